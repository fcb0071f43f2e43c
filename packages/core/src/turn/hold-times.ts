const KEPT_TIMES = 9;
const KEPT_NAMES = 1_000;

/**
 * Recent hold times of a client, by lock name. Limited to the names that were used last, and to the last
 * holds of each.
 */
export class HoldTimes {
  readonly #byName = new Map<string, readonly number[]>();

  note(name: string, heldMs: number): void {
    const before = this.#byName.get(name) ?? [];
    const times = [...(before.length < KEPT_TIMES ? before : before.slice(1)), heldMs];
    // Deletes the lock name and inserts it again, so that the map is ordered by the time of the last use.
    this.#byName.delete(name);
    this.#byName.set(name, times);
    if (this.#byName.size <= KEPT_NAMES) return;
    const [oldest] = this.#byName.keys();
    if (oldest !== undefined) this.#byName.delete(oldest);
  }

  /** Returns the median hold time, in whole milliseconds. */
  typical(name: string): number | undefined {
    // A typed array sorts its numbers without a comparing function, which is faster.
    const times = Float64Array.from(this.#byName.get(name) ?? []).sort();
    const median = times[Math.floor(times.length / 2)];
    return median === undefined ? undefined : Math.round(median);
  }
}
