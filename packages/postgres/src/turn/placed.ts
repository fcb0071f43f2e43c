// Chapter turn: whose turn is it, and why am I waiting for that one?
// The store decides, in its functions, and tells it; entries of this process as it answered them (here).

import type { TrackedEntry } from '@queuelock/core/backend';

/** An entry as the store answered it. */
export interface Placed extends TrackedEntry {
  readonly ord: number;
}

/** The sum of the numbers of entries, which shows whether the store knows the same. */
export function sumOf(entries: Iterable<Pick<Placed, 'ord'>>): bigint {
  let sum = 0n;
  for (const { ord } of entries) sum += BigInt(ord);
  return sum;
}
