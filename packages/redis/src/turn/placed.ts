// The folder turn answers: which entry is admitted, and for which entry does a waiter wait?
// The scripts decide and notify. Entries of this process as the store returned them (this file), and times until leases end (ends.ts).

import type { TrackedEntry } from '@queuelock/core/backend';

/** An entry of this process, with its number in the queue as the server returned it. */
export interface Placed extends TrackedEntry {
  readonly ord: string;
}

/**
 * Returns the entry with the highest number. If the server was set back to an earlier state and lost entries,
 * this one is among them.
 */
export function newestOf(entries: readonly Placed[]): Placed | undefined {
  return entries.reduce<Placed | undefined>(
    (newest, each) => (newest && Number(newest.ord) > Number(each.ord) ? newest : each),
    undefined,
  );
}
