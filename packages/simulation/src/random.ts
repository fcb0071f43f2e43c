/** A source of random numbers. The same seed and name give the same numbers, independent of other sources. */
export class Random {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#state = seed | 0;
  }

  /** Returns a number from 0 to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a number from `least` (inclusive) to `most` (exclusive). */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** Returns a whole number from `least` to `most`, both inclusive. */
  int(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T;
  }

  /**
   * Returns a source of random numbers for the purpose `name`. It does not depend on the numbers that this
   * source has returned.
   */
  fork(name: string): Random {
    let hash = this.#seed ^ 0x811c9dc5;
    for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    return new Random(hash);
  }
}
