/**
 * Timer that orders a contender to release at the end of its hold time. If the contender cannot receive the
 * order, for instance because it is frozen, `retry` repeats the order later.
 */
export class Pace {
  readonly #end: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  /** @param end orders the contender to release, and returns whether the contender could receive the order */
  constructor(end: () => boolean) {
    this.#end = end;
  }

  begin(ms: number): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#isDue = !this.#end();
    }, ms);
  }

  /**
   * Repeats the order to release if the hold time is over and the contender could not receive the first
   * order.
   */
  retry(): void {
    if (this.#isDue) this.#isDue = !this.#end();
  }

  /** Stops the timer, because the hold has ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
  }
}
