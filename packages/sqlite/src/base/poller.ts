/**
 * Polls the lock file from time to time while there are waiters or observers, to find changes without a
 * notification.
 */
export class Poller {
  readonly #poll: () => number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #withinMs = 0;
  #closed = false;

  /**
   * @param poll reads the file. It returns the milliseconds until the next read, or `undefined` to stop
   *   polling
   */
  constructor(poll: () => number | undefined) {
    this.#poll = poll;
  }

  /**
   * Makes the next read of the lock file happen within `withinMs` milliseconds. Starts polling if it was
   * stopped.
   */
  pollWithin(withinMs: number): void {
    if (this.#closed || (this.#timer !== undefined && this.#withinMs <= withinMs)) return;
    clearTimeout(this.#timer);
    this.#withinMs = withinMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const nextMs = this.#poll();
      if (nextMs !== undefined) this.pollWithin(nextMs);
    }, withinMs);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
