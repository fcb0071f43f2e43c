import type { RemovedEntry } from './event.ts';
import type { Attempt, Fault, Moment } from './run.ts';

/** By key: which entry, and since when. */
export type Removals = ReadonlyMap<string, readonly (RemovedEntry & { readonly from: number })[]>;

export function removalsOf(faults: Iterable<Fault>): Removals {
  const removals = new Map<string, (RemovedEntry & { readonly from: number })[]>();
  for (const { from, entries = [] } of faults)
    for (const entry of entries) {
      const ofKey = removals.get(entry.key) ?? [];
      removals.set(entry.key, [...ofKey, { ...entry, from }]);
    }
  return removals;
}

/** When an operator set about to remove the entry of this attempt. */
export function beginOf(removals: Removals, { key = '', token }: Attempt): Moment {
  const ofKey = removals.get(key) ?? [];
  return ofKey.find((removed) => removed.token === undefined || BigInt(removed.token) === token)?.from;
}
