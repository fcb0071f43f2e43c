import type { QueueEntry } from '../api/queue-api.ts';

/**
 * Whose turn it is, of a queue as everybody can see it: an entry is admitted while the conflicting entries ahead and itself take at
 * most its `limit` permits; two shared entries do not conflict. A client that was admitted may not have noticed yet.
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
