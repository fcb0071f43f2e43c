import { QueueLockError } from '@queuelock/core';
import type { LinkOptions } from '@queuelock/memory';
import type { FreezableClock } from './frozen-clock.ts';

const LOST_AFTER_MS = 1_000;
const LATENCY_MS = 5;

/**
 * The connection between one contender and the store. A visitor can cut it. While the contender is frozen, no
 * message moves on it.
 */
export class CuttableLink {
  readonly #clock: FreezableClock;
  #isCut = false;
  #held: (() => void)[] = [];

  constructor(clock: FreezableClock) {
    this.#clock = clock;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** Restores the connection, and delivers the notifications that the store sent meanwhile. */
  mend(): void {
    this.#isCut = false;
    for (const arrive of this.#held.splice(0)) this.#clock.whenRunning(arrive);
  }

  readonly options: LinkOptions = {
    latencyMs: LATENCY_MS,
    intercept: async (_call, proceed) => {
      await this.#running();
      if (this.#isCut) await this.#lost();
      const response = await proceed();
      await this.#running();
      if (this.#isCut) await this.#lost();
      return response;
    },
    deliver: (arrive) => {
      if (this.#isCut) this.#held.push(arrive);
      else this.#clock.whenRunning(arrive);
    },
  };

  #running(): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.whenRunning(resolve);
    });
  }

  /** Simulates a request or response that never arrives: rejects after the caller's timeout. */
  async #lost(): Promise<never> {
    await new Promise<void>((resolve) => {
      this.#clock.after(LOST_AFTER_MS, resolve);
    });
    throw new QueueLockError('UNAVAILABLE', 'no answer: the contender is cut off');
  }
}
