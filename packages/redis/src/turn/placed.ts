// Folder "turn": describes the entries of this process as the store returned them, and when leases end.
// The scripts decide which entries are admitted, and notify clients. placed.ts (this file) declares an entry. ends.ts converts the time
// until a lease ends.

import type { TrackedEntry } from '@queuelock/core/backend';

/** An entry of this process, with its number in the queue as the server returned it. */
export interface Placed extends TrackedEntry {
  readonly ord: string;
}

/**
 * Returns the newest of the given entries, which has the highest number. A server that loses its latest
 * writes loses the newest entry first. So if the newest entry is still stored, all of them are.
 */
export function newestOf(entries: readonly Placed[]): Placed | undefined {
  return entries.reduce<Placed | undefined>(
    (newest, each) => (newest && Number(newest.ord) > Number(each.ord) ? newest : each),
    undefined,
  );
}
