const PARTS = 4;

/**
 * As `setTimeout`, but a blocked event loop costs a quarter of the time at most: what has not been sent yet, or has come and was not
 * read, gets the other three.
 */
export function afterPatience(ms: number, task: () => void): () => void {
  let left = PARTS;
  const wait = (): NodeJS.Timeout => setTimeout(next, ms / PARTS);
  const next = (): void => {
    left -= 1;
    if (left === 0) task();
    else timer = wait();
  };
  let timer = wait();
  return () => {
    clearTimeout(timer);
  };
}

// Of a shared time limit; more than of a single one, since a task may begin in the middle of a part.
const SHARED_PARTS = 8;

/**
 * The same time limit for many tasks, by one timer that runs while there are tasks. A task runs after the time and at most an eighth of it more; a
 * blocked event loop costs one eighth. The timer does not keep the process.
 */
export class SharedPatience {
  readonly #ms: number;
  /** By the part of the time in which each runs, in the order of their beginnings. */
  readonly #tasks = new Map<() => void, number>();
  #timer: NodeJS.Timeout | undefined;
  #parts = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Runs the task when the time is over, unless the function that is returned is called before. */
  start(task: () => void): () => void {
    this.#timer ??= setInterval(() => this.#next(), this.#ms / SHARED_PARTS).unref();
    this.#tasks.set(task, this.#parts + SHARED_PARTS + 1);
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
