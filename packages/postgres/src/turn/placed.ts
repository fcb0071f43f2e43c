// Folder "turn": describes the entries of this process as the store returned them.
// The store's functions decide which entries are admitted, and notify clients. placed.ts (this file) declares an entry, and computes a sum
// to compare with the store.

import type { TrackedEntry } from '@queuelock/core/backend';

/** An entry as the store returned it. */
export interface Placed extends TrackedEntry {
  readonly ord: number;
}

/**
 * Returns the sum of the order numbers of entries. If it equals the sum in the store, the client and the
 * store have the same entries.
 */
export function sumOf(entries: Iterable<Pick<Placed, 'ord'>>): bigint {
  let sum = 0n;
  for (const { ord } of entries) sum += BigInt(ord);
  return sum;
}
