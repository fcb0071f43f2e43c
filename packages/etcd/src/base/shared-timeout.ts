import type { TimedTask } from '@queuelock/core/backend';

// The timer of a shared timeout fires this many times, after equal parts of the timeout. While the event loop is blocked, it fires at most once, so
// only one part of the timeout passes. A timeout of one task has four parts. A shared one needs more, since a task may start in the middle of a part.
const PARTS = 8;

/** A task whose timeout shares one timer with the timeouts of other tasks. */
export interface SharedTask extends TimedTask {
  /** Called when one part of the timeout has passed and the task is not done. The first part of a task may be shorter than its other parts. */
  partPassed(): void;
}

/** A timeout that the caller can start for any number of tasks. */
export interface TaskTimeout {
  /** The duration of this timeout, in milliseconds. */
  readonly ms: number;
  /** Whether this timeout calls the method `partPassed` of its tasks. */
  readonly isShared: boolean;
  /** Starts the timeout of a task. When it has passed, the method `timedOut` of the task is called. */
  start(task: SharedTask): void;
  /** Cancels the timeout of a task, so that the task's method `timedOut` is not called. */
  cancel(task: SharedTask): void;
}

/**
 * Gives many tasks the same timeout by one timer, which runs only while there are tasks. A task times out at most an eighth of the timeout late.
 * While the event loop is blocked, at most an eighth of the timeout passes. The timer does not keep the process alive.
 */
export class SharedTimeout implements TaskTimeout {
  readonly isShared = true;
  readonly ms: number;
  /** The tasks in the order of their starts. Each task times out when the number of passed parts (`#parts`) reaches its number in this map. */
  readonly #tasks = new Map<SharedTask, number>();
  #timer: NodeJS.Timeout | undefined;
  #parts = 0;

  /** @param ms the timeout in milliseconds, the same for all tasks */
  constructor(ms: number) {
    this.ms = ms;
  }

  start(task: SharedTask): void {
    this.#timer ??= setInterval(() => this.#next(), this.ms / PARTS).unref();
    this.#tasks.set(task, this.#parts + PARTS + 1);
  }

  cancel(task: SharedTask): void {
    this.#tasks.delete(task);
  }

  #next(): void {
    this.#parts += 1;
    for (const [task, part] of this.#tasks) {
      if (part > this.#parts) task.partPassed();
      else {
        this.#tasks.delete(task);
        task.timedOut();
      }
    }
    if (this.#tasks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
