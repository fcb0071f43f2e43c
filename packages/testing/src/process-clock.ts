import type { Clock } from '@queuelock/core';

/**
 * The clock of one simulated process, which can be paused. Time goes on for a paused process, as for one that the system has stopped; its timers
 * run when it continues, in the order in which they were due.
 */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  #isPaused = false;
  #due: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  random(): number {
    return this.#clock.random?.() ?? 0;
  }

  after(ms: number, task: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#clock.after(ms, () => this.whenRunning(() => (isCancelled ? undefined : task())));
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Calls the task now, or when the process continues. */
  whenRunning(task: () => void): void {
    if (this.#isPaused) this.#due.push(task);
    else task();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    const due = this.#due;
    this.#due = [];
    for (const task of due) task();
  }

  /** Ends the process: nothing of it runs any more. */
  crash(): void {
    this.#isPaused = true;
    this.#due = [];
  }
}
