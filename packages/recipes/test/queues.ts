import type { QueueEntry, QueueState } from '@queuelock/core';

/** The members of an entry that a test sets. All others are those of a plain lock. */
export type Told = Partial<Omit<QueueEntry, 'key' | 'order'>>;

/** Returns a snapshot of a queue with the keys `NAME/0`, `NAME/1`, ... */
export function queueOf(name: string, ...told: readonly Told[]): QueueState {
  return { status: 'live', name, entries: told.map((one, place) => entryOf(name, place, one)) };
}

/** Returns one entry at this index of the server's order. */
export function entryOf(name: string, place: number, told: Told): QueueEntry {
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
    ...told,
  };
}
