import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { Censuses } from '../src/censuses.ts';
import type { NodeStat } from '../src/driver.ts';

/** A directory with the server's way of counting. */
export class Directory {
  #made: number;
  #zxid: bigint;
  #changedBy = 0n;
  #count = 0;

  constructor(madeBefore = 0) {
    this.#made = madeBefore;
    this.#zxid = BigInt(100 + 2 * madeBefore);
  }

  /** Answers number and transaction of the new child. */
  create(): { readonly sequence: number; readonly czxid: bigint } {
    const sequence = this.#made | 0;
    this.#made += 1;
    this.#count += 1;
    this.#zxid += 1n;
    this.#changedBy = this.#zxid;
    return { sequence, czxid: this.#zxid };
  }

  delete(): boolean {
    if (this.#count === 0) return false;
    this.#count -= 1;
    this.#zxid += 1n;
    this.#changedBy = this.#zxid;
    return true;
  }

  stat(): NodeStat {
    return {
      czxid: 1n,
      version: 0,
      childChanges: (2 * this.#made - this.#count) | 0,
      childCount: this.#count,
      childrenZxid: this.#changedBy,
      ephemeralOwner: '0',
    };
  }
}

/** Where a directory may stand, by the number of nodes that were made in it before. */
export const BEGINNINGS = [
  ['at the start', 0],
  ['around the wrap of the number', 2 ** 31 - 300],
  ['around the wrap to 0', 2 ** 32 - 300],
] as const;

/** Numbers between 0 and 1 that look like chance, the same for the same seed. */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Makes nodes among others that come and go; answers of how many the create was recognized. Throws if it was taken for another. */
export function recognized(madeBefore: number, seed: number): number {
  const [censuses, directory, chance] = [new Censuses(), new Directory(madeBefore), chanceOf(seed)];
  const few = (): number => Math.floor(chance() * 1.3);
  const others = (): void => {
    for (let count = few(); count > 0; count -= 1) directory.create();
    for (let count = few(); count > 0; count -= 1) directory.delete();
  };
  let known = 0;
  for (let round = 0; round < 2_000; round += 1) {
    others();
    const { sequence, czxid } = directory.create();
    others();
    const birth = censuses.taken('/a', directory.stat(), sequence);
    if (birth !== undefined) known += 1;
    safely(() => expect(birth ?? czxid, `round ${round} of seed ${seed}`).to.equal(czxid));
    others();
    if (chance() < 0.9 && directory.delete()) censuses.deleted('/a');
  }
  return known;
}
