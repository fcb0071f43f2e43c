const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/** Pauses between attempts: each up to twice as long as the one before, somewhere between half and whole, so that not all come at once. */
export class Backoff {
  #ceilingMs = FIRST_MS;

  /** @param leastMs what the bridge asks for; as much again as jitter at most, so that not all come at its end. */
  nextMs(leastMs = 0): number {
    const ms = this.#ceilingMs * (0.5 + Math.random() / 2);
    this.#ceilingMs = Math.min(2 * this.#ceilingMs, LONGEST_MS);
    return Math.max(ms, Math.min(leastMs, LONGEST_MS) * (1 + Math.random()));
  }

  reset(): void {
    this.#ceilingMs = FIRST_MS;
  }
}
