import { randomInt } from 'node:crypto';
import { chanceOf } from './worker-load.ts';

const MOST = 2 ** 31;

/** Of all that is left to chance in a process that makes experiments. */
const SEED = seedOf(process.env['QUEUELOCK_SEED']);

/** What to say where something failed: to choose the same again. */
export const SEED_SETTING = `QUEUELOCK_SEED=${SEED}`;

/** Chance of one experiment: numbers from 0 to 1, the same whatever ran before it. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number = SEED) {
    this.#next = chanceOf(seed);
  }

  /** From 0 up to, and without, `most`. */
  below(most: number): number {
    return this.#next() * most;
  }

  /** The same in whole numbers. */
  wholeBelow(most: number): number {
    return Math.floor(this.below(most));
  }

  /** A seed for another process. */
  seed(): number {
    return this.wholeBelow(MOST);
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.#next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}

function seedOf(text: string | undefined): number {
  if (text === undefined) return randomInt(MOST);
  const seed = Number(text);
  if (text !== '' && Number.isInteger(seed)) return seed;
  throw new TypeError(`QUEUELOCK_SEED: "${text}" is not a whole number`);
}
