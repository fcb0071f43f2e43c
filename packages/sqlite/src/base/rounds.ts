/** Looks from time to time, for as long as somebody is interested: at what nobody told. */
export class Rounds {
  readonly #round: () => number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #withinMs = 0;
  #closed = false;

  /** `round` looks, and answers the milliseconds until the next round; `undefined`: nobody is interested any more. */
  constructor(round: () => number | undefined) {
    this.#round = round;
  }

  /** Somebody is interested: the next round comes within so many milliseconds. */
  begin(withinMs: number): void {
    if (this.#closed || (this.#timer !== undefined && this.#withinMs <= withinMs)) return;
    clearTimeout(this.#timer);
    this.#withinMs = withinMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const nextMs = this.#round();
      if (nextMs !== undefined) this.begin(nextMs);
    }, withinMs);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
