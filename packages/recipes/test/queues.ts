import type { QueueEntry, QueueState } from '@queuelock/core';

/** The parts of an entry that a test sets; the rest is that of a plain lock. */
export type Told = Partial<Omit<QueueEntry, 'key' | 'order'>>;

/** A queue `x` as everybody can see it, with the keys `x/0`, `x/1`, ... */
export function queueOf(name: string, ...told: readonly Told[]): QueueState {
  return { status: 'live', name, entries: told.map((one, place) => entryOf(name, place, one)) };
}

/** One entry, at this place of the server’s order. */
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
