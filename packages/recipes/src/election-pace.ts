import type { Clock } from '@queuelock/core';
import { backoffDelay } from '@queuelock/core/backend';

const FLOOR = { initialDelayMs: 100, maxDelayMs: 2_000 };

/** Keeps the terms of one candidate apart, so that work which returns at once does not stand for election all the time. */
export class Pace {
  readonly #clock: Clock;
  #shortTerms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to stand back after a term of that length: what is missing to a time that grows with every term that was shorter. */
  restAfter(termMs: number): number {
    const floorMs = backoffDelay(this.#shortTerms, FLOOR, this.#clock);
    const restMs = Math.max(0, Math.round(floorMs - termMs));
    this.#shortTerms = restMs > 0 ? this.#shortTerms + 1 : 0;
    return restMs;
  }
}
