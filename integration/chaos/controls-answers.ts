/** Heartbeats of which the newest that was answered counts, from when it was sent, however late the answer came. */
export class LastAnswered {
  readonly #ttlMs: number;
  readonly #ask: () => Promise<boolean>;
  readonly #listeners = new Set<() => void>();
  #base = -Infinity;
  #told = -Infinity;

  /** @param ask sends one heartbeat; answers whether the session is there */
  constructor(ttlMs: number, ask: () => Promise<boolean>) {
    this.#ttlMs = ttlMs;
    this.#ask = ask;
  }

  /** Sends another one, and answers as soon as any counts that did not before. */
  renew(signal: AbortSignal): Promise<number> {
    const sentAt = performance.now();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#listeners.delete(look);
        signal.removeEventListener('abort', giveUp);
      };
      const look = (): void => {
        if (this.#base === this.#told) return;
        settle();
        this.#told = this.#base;
        resolve(Math.max(0, this.#ttlMs - (sentAt - this.#base)));
      };
      const giveUp = (): void => {
        settle();
        reject(signal.reason as Error);
      };
      this.#listeners.add(look);
      signal.addEventListener('abort', giveUp);
      this.#ask().then(
        (isThere) => {
          if (isThere) this.#answered(sentAt);
        },
        () => undefined,
      );
      // One that was answered while nobody asked.
      look();
    });
  }

  #answered(sentAt: number): void {
    this.#base = Math.max(this.#base, sentAt);
    for (const listener of this.#listeners) listener();
  }
}
