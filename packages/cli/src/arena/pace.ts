/** Ends a hold when its time is over; later where that cannot be done then. */
export class Pace {
  readonly #end: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  /** @param end ends it, and answers whether it could */
  constructor(end: () => boolean) {
    this.#end = end;
  }

  begin(ms: number): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#isDue = !this.#end();
    }, ms);
  }

  /** It may be possible now. */
  goOn(): void {
    if (this.#isDue) this.#isDue = !this.#end();
  }

  /** It has ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
  }
}
