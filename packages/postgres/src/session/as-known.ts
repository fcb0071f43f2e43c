import type { FoundEntry, SessionReconciler, EntryTracker } from '@queuelock/core/backend';
import type { Beat } from '../queue/placed.ts';
import { sumOf, type Placed } from '../turn/placed.ts';

/** An entry of a session, as the store has it. */
export interface Found extends FoundEntry {
  readonly ord: number;
}

/** Whether the store has what is known here, by the sums that a renewal answered. */
export function isAsKnown(
  { there, waiting }: Pick<Beat, 'there' | 'waiting'>,
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
