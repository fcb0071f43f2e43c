import type { Eviction } from '@queuelock/core';
import type { EntryRef, EvictionSnapshot } from '../wire.ts';

/** Returns the reference that identifies an entry on the wire. */
export function entryRef({ key, order, owner, id }: Eviction['entry']): EntryRef {
  return { key, order: String(order), owner, ...(id === undefined ? {} : { id }) };
}

/** Converts an eviction to its wire form. */
export function evictionSnapshot({ entry, kind, by, reason, at }: Eviction): EvictionSnapshot {
  return { entry: entryRef(entry), kind, by, reason, at };
}
