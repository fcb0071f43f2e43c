import type { Clock } from '@queuelock/core';

/**
 * The clock of one simulated process. When the process is paused, time continues, but its timers do not run,
 * as if the operating system had stopped it. Overdue timers run in order when the process continues.
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

  /** Calls the task now, or once the process continues if it is paused. */
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

  /** Ends the process: none of its timers runs any more. */
  crash(): void {
    this.#isPaused = true;
    this.#due = [];
  }
}
