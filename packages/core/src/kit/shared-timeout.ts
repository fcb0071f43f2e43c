import type { Clock } from '../base/clock.ts';

/** A task of a `SharedTimeout`. */
export interface TimedTask {
  /** Is called at the timeout, unless the task was cancelled. */
  timedOut(): void;
}

/**
 * The same timeout for many tasks, by one timer, which runs while there are tasks and for at most one timeout longer. Most tasks are cancelled long
 * before, and a timer of their own would cost each of them more than a hundred function calls. The timer does not keep the process alive.
 *
 * The tasks start in the order of their deadlines, since the timeout is the same for all. So the timer only waits for the first one.
 */
export class SharedTimeout {
  readonly #ms: number;
  readonly #clock: Pick<Clock, 'now'>;
  /** The deadline of each task, in order. */
  readonly #deadlines = new Map<TimedTask, number>();
  #isArmed = false;

  /** @param ms milliseconds, the same for all tasks */
  constructor(ms: number, clock: Pick<Clock, 'now'>) {
    this.#ms = ms;
    this.#clock = clock;
  }

  /** Milliseconds from the start of a task to its timeout. */
  get ms(): number {
    return this.#ms;
  }

  /** Calls `timedOut` of the task after the timeout. A task that was started before starts again. */
  start(task: TimedTask): void {
    this.#deadlines.delete(task);
    this.#deadlines.set(task, this.#clock.now() + this.#ms);
    if (!this.#isArmed) this.#arm(this.#ms);
  }

  cancel(task: TimedTask): void {
    this.#deadlines.delete(task);
  }

  #arm(ms: number): void {
    this.#isArmed = true;
    setTimeout(() => this.#onTimer(), Math.max(1, Math.ceil(ms))).unref();
  }

  /** Handles the replies that arrived while the event loop was blocked before it ends the tasks that were due by then. */
  #onTimer(): void {
    const now = this.#clock.now();
    setImmediate(() => setImmediate(() => this.#expire(now)));
  }

  #expire(now: number): void {
    for (const [task, deadline] of this.#deadlines) {
      if (deadline > now) break;
      this.#deadlines.delete(task);
      task.timedOut();
    }
    this.#isArmed = false;
    const [next] = this.#deadlines.values();
    if (next !== undefined) this.#arm(next - this.#clock.now());
  }
}
