// Chapter turn: whose turn is it, and why am I waiting for that one?
// The store decides, in its scripts, and tells it; entries of this process as it answered them (here); when a lease in front ends (ends).

import type { TrackedEntry } from '@queuelock/core/backend';

/** An entry as the store answered it. */
export interface Placed extends TrackedEntry {
  readonly ord: string;
}

/** The entry that came last: a store that went back knows it no more if it has forgotten any. */
export function newestOf(entries: readonly Placed[]): Placed | undefined {
  return entries.reduce<Placed | undefined>(
    (newest, each) => (newest && Number(newest.ord) > Number(each.ord) ? newest : each),
    undefined,
  );
}
