import type { RemovedEntry } from './event.ts';
import type { Attempt, Fault, Moment } from './run.ts';

/**
 * The entries that operators have removed during a run, grouped by key, each with the time at which the
 * removal began.
 */
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

/** Returns when an operator began to remove the entry of this attempt. */
export function beginOf(removals: Removals, { key = '', token }: Attempt): Moment {
  const ofKey = removals.get(key) ?? [];
  return ofKey.find((removed) => removed.token === undefined || BigInt(removed.token) === token)?.from;
}
