import type { Clock, LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import type { MemoryStage } from './election-stage.ts';

const STEP_MS = 1;

/**
 * A simulated process that can freeze at any point at which it awaits something. While it is frozen, it
 * receives no messages and no timer fires.
 */
export class Instance {
  readonly client: LockClient;
  /** Number of points at which the simulated process has awaited something so far. */
  points = 0;
  readonly #stage: MemoryStage;
  readonly #freezeAt: number;
  readonly #waiting: (() => void)[] = [];
  #isFrozen = false;
  #isOver = false;

  constructor(stage: MemoryStage, freezeAt = Infinity) {
    this.#stage = stage;
    this.#freezeAt = freezeAt;
    const time = stage.clock;
    const clock: Clock = {
      now: () => time.now(),
      after: (ms, task) => {
        let isCancelled = false;
        const cancel = time.after(ms, () => this.#whenAwake(() => isCancelled || task()));
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
    const intercept: Intercept = async (call, proceed) => {
      if (call === 'close') return proceed();
      await this.point();
      const response = await proceed();
      await this.point();
      return response;
    };
    const deliver = (arrive: () => void): void => void this.point().then(arrive);
    this.client = stage.client({ clock, backend: { intercept, deliver } });
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /**
   * Called at each point at which the simulated process awaits something. Freezes the process if the test has
   * chosen this point. Waits for a short simulated time, and then until the process is not frozen.
   */
  async point(): Promise<void> {
    if (this.#isOver) return;
    if (this.points++ === this.#freezeAt) this.#isFrozen = true;
    await new Promise<void>((resolve) => this.#stage.clock.after(STEP_MS, resolve));
    await new Promise<void>((resolve) => this.#whenAwake(resolve));
  }

  wake(): void {
    this.#isFrozen = false;
    for (const task of this.#waiting.splice(0)) task();
  }

  /** Thaws the simulated process for ever, and no longer delays its messages. Tests call it at their end. */
  over(): void {
    this.#isOver = true;
    this.wake();
  }

  #whenAwake(task: () => void): void {
    if (this.#isFrozen) this.#waiting.push(task);
    else task();
  }
}
