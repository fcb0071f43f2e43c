interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** So many requests are on their way to a store at a time; the others wait in line. */
export class ConcurrencyLimiter {
  readonly #limit: number;
  readonly #waiting = new Set<Waiting>();
  #active = 0;

  /** @param limit how many at a time */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when there is room. Whoever has entered leaves. */
  async acquire(): Promise<void> {
    if (this.#active < this.#limit) {
      this.#active += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      this.#waiting.add({ resolve, reject });
    });
  }

  /** The next in line enters. */
  release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#active -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.resolve();
  }

  /** Nobody is answered: whoever waits need not try, and is rejected with this. */
  rejectWaiting(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
  }
}
