import { admittedEntries } from './admitted.ts';
import type { QueueEntry } from '../api/queue-api.ts';

/**
 * Returns the position of every entry of an observed queue, in the queue's order. 0: the entry is admitted, though its client may not have noticed
 * yet. 1: the first waiter, and so on. Readers count like all other entries.
 */
export function positionsOf(entries: readonly QueueEntry[]): ReadonlyMap<QueueEntry, number> {
  const admitted = admittedEntries(entries);
  let waiting = 0;
  return new Map(entries.map((entry) => [entry, admitted.has(entry) ? 0 : (waiting += 1)]));
}
