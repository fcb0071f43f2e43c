import type { FoundEntry, SessionReconciler, EntryTracker } from '@queuelock/core/backend';
import type { RenewalReply } from '../queue/placed.ts';
import { sumOf, type Placed } from '../turn/placed.ts';

/** An entry of this session as it is stored in the database. */
export interface Found extends FoundEntry {
  readonly ord: number;
}

/**
 * Returns whether this client knows the entries of its session as the store has them, in the same states.
 * Compares the sums of order numbers in the reply to a heartbeat with the sums over the known entries.
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
