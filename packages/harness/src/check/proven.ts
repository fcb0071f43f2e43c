import type { Attempt } from './run.ts';

/**
 * Returns whether an entry was certainly waiting at the time `at`. Returns false for an entry that failed or was removed, because it is unknown when
 * it left.
 */
export function isProvenAt(attempt: Attempt, at: number): boolean {
  const { session, life, failed, removing = Infinity, waitedUntil, queued = Infinity } = attempt;
  if (failed !== undefined || removing <= at || waitedUntil <= at || queued > at) return false;
  if (life.sessionLost.some((lost) => lost <= at && lost >= queued)) return false;
  return session !== undefined && (life.proofs.get(session)?.proves(at) ?? false);
}
