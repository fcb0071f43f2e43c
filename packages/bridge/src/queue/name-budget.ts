/** The limit of the number of queues that the overviews watch. Each queue counts once. */
export class NameBudget {
  readonly #max: number;
  readonly #uses = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts a queue as watched until the returned function is called. Returns `undefined` if the queue is not
   * watched yet and the limit is reached.
   */
  take(name: string): (() => void) | undefined {
    const uses = this.#uses.get(name) ?? 0;
    if (uses === 0 && this.#uses.size >= this.#max) return undefined;
    this.#uses.set(name, uses + 1);
    return () => {
      const left = (this.#uses.get(name) ?? 1) - 1;
      if (left > 0) this.#uses.set(name, left);
      else this.#uses.delete(name);
    };
  }
}
