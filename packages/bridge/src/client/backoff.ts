const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/**
 * Exponential backoff between attempts to reach the bridge. Each delay is a random 50 to 100 % of a limit
 * that doubles, so that clients spread out.
 */
export class Backoff {
  #ceilingMs = FIRST_MS;

  /**
   * Returns the delay before the next attempt.
   * @param minMs the least delay that the bridge requires, in milliseconds. A random delay of up to the same
   *   length is added, so that clients do not all return at the same time
   */
  nextMs(minMs = 0): number {
    const ms = this.#ceilingMs * (0.5 + Math.random() / 2);
    this.#ceilingMs = Math.min(2 * this.#ceilingMs, LONGEST_MS);
    return Math.max(ms, Math.min(minMs, LONGEST_MS) * (1 + Math.random()));
  }

  reset(): void {
    this.#ceilingMs = FIRST_MS;
  }
}
