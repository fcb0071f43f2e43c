/**
 * Sends heartbeats by a rule that other lock clients use, and that is weaker than queuelock's. The TTL counts
 * from the send time of the newest heartbeat with a response, however late that response arrived.
 */
export class LastAnswered {
  readonly #ttlMs: number;
  readonly #request: () => Promise<boolean>;
  readonly #listeners = new Set<() => void>();
  #base = -Infinity;
  #reported = -Infinity;

  /**
   * Creates the weaker rule for the heartbeats of a session.
   * @param request sends one heartbeat, and resolves with whether the session exists
   */
  constructor(ttlMs: number, request: () => Promise<boolean>) {
    this.#ttlMs = ttlMs;
    this.#request = request;
  }

  /**
   * Sends a heartbeat, and resolves with the proven time in milliseconds, counted from this call. Resolves
   * with the next response, even if it belongs to an earlier heartbeat. Each call consumes one response.
   */
  renew(signal: AbortSignal): Promise<number> {
    const sentAt = performance.now();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#listeners.delete(read);
        signal.removeEventListener('abort', giveUp);
      };
      const read = (): void => {
        if (this.#base === this.#reported) return;
        settle();
        this.#reported = this.#base;
        resolve(Math.max(0, this.#ttlMs - (sentAt - this.#base)));
      };
      const giveUp = (): void => {
        settle();
        reject(signal.reason as Error);
      };
      this.#listeners.add(read);
      signal.addEventListener('abort', giveUp);
      this.#request().then(
        (isThere) => {
          if (isThere) this.#answered(sentAt);
        },
        () => undefined,
      );
      // The response to an earlier heartbeat may have arrived after the previous call, so it is used at once.
      read();
    });
  }

  #answered(sentAt: number): void {
    this.#base = Math.max(this.#base, sentAt);
    for (const listener of this.#listeners) listener();
  }
}
