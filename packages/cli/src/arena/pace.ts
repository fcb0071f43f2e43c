/** Ends a hold when its time is over, or later if that is not possible at that time. */
export class Pace {
  readonly #end: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  /** @param end ends the hold, and returns whether that was possible */
  constructor(end: () => boolean) {
    this.#end = end;
  }

  begin(ms: number): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#isDue = !this.#end();
    }, ms);
  }

  /** Tries again to end a hold that is overdue. */
  retry(): void {
    if (this.#isDue) this.#isDue = !this.#end();
  }

  /** Records that the hold has ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
  }
}
