// More parts than a single timeout has, since a task may start in the middle of one.
const PARTS = 8;

/**
 * The same timeout for many tasks, by one timer that runs while there are tasks. A task runs after the timeout and at most an eighth of it later. A
 * blocked event loop costs at most an eighth. The timer does not keep the process alive.
 */
export class SharedTimeout {
  readonly #ms: number;
  /** The part in which each task runs, in the order of their starts. */
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
