/** Polls the file from time to time while there are waiters or observers, to find changes without a notification. */
export class Rounds {
  readonly #round: () => number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #withinMs = 0;
  #closed = false;

  /** @param round reads the file. Returns the milliseconds before the next round, or `undefined` to stop */
  constructor(round: () => number | undefined) {
    this.#round = round;
  }

  /** Starts polling: the next round runs within that many milliseconds. */
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
