/**
 * Timer that ends a contender's hold. If the contender cannot release then (it may be frozen), `retry` ends
 * the hold later.
 */
export class Pace {
  readonly #end: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  /** @param end orders the release, and returns whether the contender could receive the order */
  constructor(end: () => boolean) {
    this.#end = end;
  }

  begin(ms: number): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#isDue = !this.#end();
    }, ms);
  }

  /** Tries again to end the hold, if its time has passed. */
  retry(): void {
    if (this.#isDue) this.#isDue = !this.#end();
  }

  /** Stops the timer, because the hold has ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
  }
}
