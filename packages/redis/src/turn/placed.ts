// Folder "turn": describes the entries of this process as the store returned them, and when leases end.
// The scripts decide which entries are admitted, and notify clients. placed.ts (this file) declares an entry. ends.ts converts the time
// until a lease ends.

import type { TrackedEntry } from '@queuelock/core/backend';

/** An entry of this process, with its number in the queue as the server returned it. */
export interface Placed extends TrackedEntry {
  readonly ord: string;
}

/**
 * Returns the entry with the highest number. If the server has returned to an earlier state and lost entries,
 * this one is lost too. So checking it is enough to detect the loss.
 */
export function newestOf(entries: readonly Placed[]): Placed | undefined {
  return entries.reduce<Placed | undefined>(
    (newest, each) => (newest && Number(newest.ord) > Number(each.ord) ? newest : each),
    undefined,
  );
}
