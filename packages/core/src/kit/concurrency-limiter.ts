interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Limits how many requests to a store are in flight at the same time. Further requests wait in order. */
export class ConcurrencyLimiter {
  readonly #limit: number;
  readonly #waiting = new Set<Waiting>();
  #active = 0;

  /** @param limit maximum number of requests in flight */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Resolves when the caller may send its request. The caller then calls `release` when the request is done.
   */
  async acquire(): Promise<void> {
    if (this.#active < this.#limit) {
      this.#active += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      this.#waiting.add({ resolve, reject });
    });
  }

  /** Reports that a request is done, so that the next waiting one may be sent. */
  release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#active -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.resolve();
  }

  /** Rejects all waiting requests, because the store does not respond. */
  rejectWaiting(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
  }
}
