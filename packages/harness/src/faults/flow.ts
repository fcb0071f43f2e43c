/** Faults of one direction, on every connection of a proxy, present and future. */
export class Flow {
  /** Number of bytes forwarded in this direction so far. */
  bytes = 0;
  /** Bytes in flight now: held back, delayed or waiting for the rate limit. */
  keptBytes = 0;
  /** Number of bytes dropped in this direction so far. */
  lostBytes = 0;
  #delayMs = 0;
  #bytesPerSecond = Infinity;
  #held = false;
  #dark = false;
  readonly #listeners = new Set<() => void>();

  get delayMs(): number {
    return this.#delayMs;
  }
  get bytesPerSecond(): number {
    return this.#bytesPerSecond;
  }
  get held(): boolean {
    return this.#held;
  }
  get dark(): boolean {
    return this.#dark;
  }

  /** Delays all data, including data in flight, by this many milliseconds from when it was sent. Keeps the order. */
  delay(ms: number): void {
    if (!(ms >= 0 && ms < 2 ** 31)) throw new RangeError(`delay: ${ms} is not a number of milliseconds`);
    this.#delayMs = ms;
    this.#changed();
  }

  /** Limits each connection to this many bytes a second. `Infinity` removes the limit. */
  limit(bytesPerSecond: number): void {
    if (!(bytesPerSecond > 0))
      throw new RangeError(`limit: ${bytesPerSecond} is not a positive number of bytes per second`);
    this.#bytesPerSecond = bytesPerSecond;
    this.#changed();
  }

  /**
   * Holds all data back without loss, and forwards it after a call of `heal`. Above 1 MiB the sender gets backpressure. Simulates a partition that
   * heals before TCP times out.
   */
  hold(): void {
    this.#held = true;
    this.#changed();
  }

  /**
   * Drops all data, including the end of a connection. A stream with missing data cannot continue, so `heal` resets its
   * connection. Simulates a partition that outlasts TCP. New connections can be made, and are dropped too.
   */
  blackhole(): void {
    this.#dark = true;
    this.#changed();
  }

  /** Removes all faults of this direction. */
  heal(): void {
    this.#delayMs = 0;
    this.#bytesPerSecond = Infinity;
    this.#held = false;
    this.#dark = false;
    this.#changed();
  }

  /** Calls the listener after each change. Returns the function to unsubscribe. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
