/** What happens to the bytes of one direction, on every connection of a proxy, present and future. */
export class Flow {
  /** Bytes that were forwarded so far. */
  bytes = 0;
  /** Bytes that are under way now: held, delayed or waiting for the rate. */
  keptBytes = 0;
  /** Bytes that were swallowed so far. */
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

  /** Everything, also what is under way, arrives this many milliseconds after it was sent. Order is kept. */
  delay(ms: number): void {
    if (!(ms >= 0 && ms < 2 ** 31)) throw new RangeError(`delay: ${ms} is not a number of milliseconds`);
    this.#delayMs = ms;
    this.#changed();
  }

  /** At most this many bytes a second on each connection. `Infinity` takes the limit away. */
  limit(bytesPerSecond: number): void {
    if (!(bytesPerSecond > 0))
      throw new RangeError(`limit: ${bytesPerSecond} is not a positive number of bytes per second`);
    this.#bytesPerSecond = bytesPerSecond;
    this.#changed();
  }

  /**
   * Nothing goes on, nothing is lost: what comes is kept (up to 1 MiB, then the sender feels back-pressure) and goes
   * on after `heal`. As a partition that heals before TCP gives up.
   */
  hold(): void {
    this.#held = true;
    this.#changed();
  }

  /**
   * What comes is swallowed, also the end of a connection. A stream with a hole cannot go on, so a connection that
   * lost something is reset by `heal`. As a partition that outlasts TCP. New connections can be made, and are as dark.
   */
  blackhole(): void {
    this.#dark = true;
    this.#changed();
  }

  /** Takes all faults of this direction away. */
  heal(): void {
    this.#delayMs = 0;
    this.#bytesPerSecond = Infinity;
    this.#held = false;
    this.#dark = false;
    this.#changed();
  }

  /** Called after each change. Answers with the way to unsubscribe. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
