import type { FoundEntry, SessionReconciler, EntryTracker } from '@queuelock/core/backend';
import type { RenewalReply } from '../queue/placed.ts';
import { sumOf, type Placed } from '../turn/placed.ts';

/** An entry of this session as it is stored in the database. */
export interface Found extends FoundEntry {
  readonly ord: number;
}

/**
 * Compares the reply to a heartbeat with the entries that this client knows, by the sums of their order
 * numbers. Returns whether both sums agree, which shows that the store and the client have the same entries
 * in the same states.
 */
export function isAsKnown(
  { there, waiting }: Pick<RenewalReply, 'there' | 'waiting'>,
  entries: EntryTracker<Placed>,
  { unclaimed }: SessionReconciler<Found>,
): boolean {
  if (!unclaimed) return false;
  const waitingBesides = unclaimed.filter(({ admitted }) => !admitted);
  return (
    BigInt(there) === sumOf(entries.all) + sumOf(unclaimed) &&
    BigInt(waiting) === sumOf(entries.waiting) + sumOf(waitingBesides)
  );
}
