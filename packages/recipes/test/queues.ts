import type { QueueEntry, QueueState } from '@queuelock/core';

/**
 * The properties of a queue entry that a test sets. All other properties have the values of a plain lock's
 * entry.
 */
export type EntryParts = Partial<Omit<QueueEntry, 'key' | 'order'>>;

/** Returns a snapshot of a queue with the keys `NAME/0`, `NAME/1`, ... */
export function queueOf(name: string, ...parts: readonly EntryParts[]): QueueState {
  return { status: 'live', name, entries: parts.map((one, place) => entryOf(name, place, one)) };
}

/** Returns the entry `NAME/INDEX` of a queue. Its order number is the index. */
export function entryOf(name: string, place: number, parts: EntryParts): QueueEntry {
  return {
    key: `${name}/${place}`,
    order: BigInt(place),
    shared: false,
    owner: `owner of ${name}/${place}`,
    metadata: {},
    value: '',
    permits: 1,
    limit: 1,
    holds: [],
    heard: [],
    answers: [],
    ...parts,
  };
}
