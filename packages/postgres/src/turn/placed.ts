// The folder turn answers: which entry is admitted, and for which entry does a waiter wait?
// The functions of the store decide and notify. Entries of this process as the store returned them (this file).

import type { TrackedEntry } from '@queuelock/core/backend';

/** An entry as the store returned it. */
export interface Placed extends TrackedEntry {
  readonly ord: number;
}

/**
 * Returns the sum of the orders of entries. If it equals the store's sum, the client and the store have the
 * same entries.
 */
export function sumOf(entries: Iterable<Pick<Placed, 'ord'>>): bigint {
  let sum = 0n;
  for (const { ord } of entries) sum += BigInt(ord);
  return sum;
}
