import { randomInt } from 'node:crypto';
import { chanceOf } from '@queuelock/harness/chance';

const MOST = 2 ** 31;

/** Seed of all random choices in a process that runs experiments. */
const SEED = seedOf(process.env['QUEUELOCK_SEED']);

/** Text of a failure message that states with which seed a run makes the same random choices again. */
export const SEED_SETTING = `QUEUELOCK_SEED=${SEED}`;

/** Random numbers of one experiment, from 0 to 1, independent of earlier experiments. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number = SEED) {
    this.#next = chanceOf(seed);
  }

  /** Returns a random number from 0 to `most`, exclusive. */
  below(most: number): number {
    return this.#next() * most;
  }

  /** Returns a random whole number from 0 to `most`, exclusive. */
  wholeBelow(most: number): number {
    return Math.floor(this.below(most));
  }

  /** Returns a random seed for another process of the experiment. */
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
