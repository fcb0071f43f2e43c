/** Heartbeats of which the newest answered one counts from when it was sent, however late its response arrived. */
export class LastAnswered {
  readonly #ttlMs: number;
  readonly #ask: () => Promise<boolean>;
  readonly #listeners = new Set<() => void>();
  #base = -Infinity;
  #told = -Infinity;

  /** @param ask Sends one heartbeat; resolves with whether the session exists. */
  constructor(ttlMs: number, ask: () => Promise<boolean>) {
    this.#ttlMs = ttlMs;
    this.#ask = ask;
  }

  /** Sends a heartbeat, and resolves as soon as any response counts that did not before. */
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
      // A heartbeat may have been answered between two calls.
      look();
    });
  }

  #answered(sentAt: number): void {
    this.#base = Math.max(this.#base, sentAt);
    for (const listener of this.#listeners) listener();
  }
}
