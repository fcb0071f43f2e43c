import { admittedEntries } from './admitted.ts';
import type { QueueEntry } from '../api/queue-api.ts';

/**
 * The position of every entry of a queue as everybody can see it, in the queue's order. 0: its turn has come, though its client may not have
 * noticed yet. 1: the first of those who wait. And so on, readers counted like everybody.
 */
export function positionsOf(entries: readonly QueueEntry[]): ReadonlyMap<QueueEntry, number> {
  const admitted = admittedEntries(entries);
  let waiting = 0;
  return new Map(entries.map((entry) => [entry, admitted.has(entry) ? 0 : (waiting += 1)]));
}
