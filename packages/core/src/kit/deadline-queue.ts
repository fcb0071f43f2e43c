import type { Clock } from '../base/clock.ts';

/** A task with a timeout, for a `DeadlineQueue`. */
export interface TimedTask {
  /** Called when the timeout of the task has passed, unless the task was cancelled. */
  timedOut(): void;
}

/**
 * Runs the same timeout for many tasks with one timer. Most tasks are cancelled long before the timeout. A separate timer would cost each of them
 * more than a hundred function calls. The timeout is the same for all tasks, so the order in which tasks start is that of their deadlines, and the
 * timer waits only for the first task. The timer runs for at most one timeout after the last task was cancelled. It does not keep the process alive.
 */
export class DeadlineQueue {
  readonly #ms: number;
  readonly #clock: Pick<Clock, 'now'>;
  /** The deadline of each task, in order. */
  readonly #deadlines = new Map<TimedTask, number>();
  #isArmed = false;

  /** @param ms the timeout of each task, in milliseconds */
  constructor(ms: number, clock: Pick<Clock, 'now'>) {
    this.#ms = ms;
    this.#clock = clock;
  }

  /** The timeout of each task, in milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** Calls `timedOut` of the task after the timeout. If the timeout of the task is already running, it starts again. */
  start(task: TimedTask): void {
    this.#deadlines.delete(task);
    this.#deadlines.set(task, this.#clock.now() + this.#ms);
    if (!this.#isArmed) this.#arm(this.#ms);
  }

  /**
   * Cancels the task, so that its `timedOut` is not called. Does nothing if the timeout of the task is not
   * running.
   */
  cancel(task: TimedTask): void {
    this.#deadlines.delete(task);
  }

  #arm(ms: number): void {
    this.#isArmed = true;
    setTimeout(() => this.#onTimer(), Math.max(1, Math.ceil(ms))).unref();
  }

  /**
   * Waits two turns of the event loop before tasks time out. So replies that arrived while the loop was blocked can cancel their tasks. Only tasks
   * that were due before this wait time out.
   */
  #onTimer(): void {
    const now = this.#clock.now();
    setImmediate(() => setImmediate(() => this.#expire(now)));
  }

  #expire(now: number): void {
    try {
      for (const [task, deadline] of this.#deadlines) {
        if (deadline > now) break;
        this.#deadlines.delete(task);
        task.timedOut();
      }
    } finally {
      // A task that throws must not end the timeouts of the other tasks.
      this.#isArmed = false;
      const [next] = this.#deadlines.values();
      if (next !== undefined) this.#arm(next - this.#clock.now());
    }
  }
}
