import { isQueueLockError, type QueueLockErrorCode } from '../../src/index.ts';
import type { Claim } from './claim.ts';
import type { Ledger } from './ledger.ts';
import type { Machine } from './timeline.ts';
import type { World } from './world.ts';

/** A claim that failed. */
export interface Failure {
  readonly claim: Claim;
  readonly waitedMs: number;
  /** Number of the client's sessions that ended during the wait. */
  readonly sessionsLost: number;
}

/** Returns whether a claim may fail with this error: it is typed, and its cause has happened. */
export function hasCause(
  error: unknown,
  { claim, waitedMs, sessionsLost }: Failure,
  { ledger, server }: World,
): boolean {
  const { label, plan, actor, aborted } = claim;
  if (aborted && error === aborted) return true;
  if (!isQueueLockError(error)) return false;
  const key = ledger.keyOf(label);
  // A claim whose session ended before it had an entry may continue in a second session, but not in a third.
  const lostItsSession =
    key === undefined
      ? sessionsLost >= 2
      : sessionsLost > 0 || !server.sessionIds.includes(ledger.sessionOf(key));
  const isLate = plan.timeoutMs !== undefined && waitedMs > plan.timeoutMs - 1;
  const causes: Partial<Record<QueueLockErrorCode, boolean>> = {
    TIMEOUT: isLate,
    CLOSED: actor.closed,
    ACCESS_DENIED: actor.wasRefused(plan.name),
    // A wait that times out while the store has not responded, or the session is suspect, does not reject with TIMEOUT.
    UNAVAILABLE: isLate || (actor.network.hadTrouble && (plan.kind === 'tryAcquire' || !actor.alive)),
    ENTRY_LOST: key !== undefined && ledger.evicted.has(key),
    SESSION_LOST: lostItsSession,
    NOT_ENOUGH_TIME: key !== undefined && provenMs(actor.machine, ledger, key) < (plan.minRemainingMs ?? 0),
  };
  return causes[error.code] ?? false;
}

function provenMs(machine: Machine, ledger: Ledger, key: string): number {
  return ledger.leaseOf(ledger.sessionOf(key)).provenUntil - machine.now();
}
