import type { Eviction } from '@queuelock/core';
import type { EntryRef, EvictionSnapshot } from '../wire.ts';

/** Returns the properties by which messages between the bridge and pages identify an entry. */
export function entryRef({ key, order, owner, id }: Eviction['entry']): EntryRef {
  return { key, order: String(order), owner, ...(id === undefined ? {} : { id }) };
}

/** Converts an eviction to the form in which the bridge sends it to pages. */
export function evictionSnapshot({ entry, kind, by, reason, at }: Eviction): EvictionSnapshot {
  return { entry: entryRef(entry), kind, by, reason, at };
}
