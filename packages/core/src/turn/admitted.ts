import type { QueueEntry } from '../api/queue-api.ts';

/**
 * Returns the admitted entries of a queue that was observed. An entry is admitted while it and the conflicting entries ahead take at most its `limit`
 * permits; two shared entries do not conflict. The client of an admitted entry may not have noticed yet.
 */
export function admittedEntries(entries: readonly QueueEntry[]): ReadonlySet<QueueEntry> {
  const admitted = new Set<QueueEntry>();
  let taken = 0;
  let takenByExclusive = 0;
  for (const entry of entries) {
    const { shared, permits, limit } = entry;
    if ((shared ? takenByExclusive : taken) + permits <= limit) admitted.add(entry);
    taken += permits;
    if (!shared) takenByExclusive += permits;
  }
  return admitted;
}
