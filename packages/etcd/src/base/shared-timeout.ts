// The timeout is divided into this many parts. `startTimeout` uses four, and here a task may also start in the middle of a part.
const PARTS = 8;

/**
 * Gives many tasks the same timeout by one timer, which runs while there are tasks. A task runs after the timeout and at most an eighth of it later.
 * Of a time in which the event loop is blocked, at most an eighth of the timeout counts. The timer does not keep the process alive.
 */
export class SharedTimeout {
  readonly #ms: number;
  /** The tasks in the order of their starts, each with the number of the part at which it runs. */
  readonly #tasks = new Map<() => void, number>();
  #timer: NodeJS.Timeout | undefined;
  #parts = 0;

  /** @param ms milliseconds, the same for all tasks */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Runs the task after the timeout. Returns a function that cancels it. */
  start(task: () => void): () => void {
    this.#timer ??= setInterval(() => this.#next(), this.#ms / PARTS).unref();
    this.#tasks.set(task, this.#parts + PARTS + 1);
    return () => {
      this.#tasks.delete(task);
    };
  }

  #next(): void {
    this.#parts += 1;
    for (const [task, part] of this.#tasks) {
      if (part > this.#parts) break;
      this.#tasks.delete(task);
      task();
    }
    if (this.#tasks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
