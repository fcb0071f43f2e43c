import type { FoundEntry, SessionReconciler, EntryTracker } from '@queuelock/core/backend';
import type { RenewalReply } from '../queue/placed.ts';
import { sumOf, type Placed } from '../turn/placed.ts';

/** An entry of a session as stored. */
export interface Found extends FoundEntry {
  readonly ord: number;
}

/** Returns whether the store has the entries that this client knows, by comparing the sums in the reply to a renewal. */
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
