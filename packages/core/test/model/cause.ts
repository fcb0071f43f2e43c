import { isQueueLockError, type QueueLockErrorCode } from '../../src/index.ts';
import type { Claim } from './claim.ts';
import type { Ledger } from './ledger.ts';
import type { Machine } from './timeline.ts';
import type { World } from './world.ts';

/** A claim that has failed, how long it had waited, and how many sessions its client lost during the wait. */
export interface Failure {
  readonly claim: Claim;
  readonly waitedMs: number;
  /** Number of the client's sessions that ended while the claim waited. */
  readonly sessionsLost: number;
}

/**
 * Returns whether the claim may fail with this error. The error must be the reason of the claim's signal, or a
 * `QueueLockError` whose code has a cause in the history: `CLOSED`, for example, needs a closed client.
 */
export function hasCause(
  error: unknown,
  { claim, waitedMs, sessionsLost }: Failure,
  { ledger, server }: World,
): boolean {
  const { label, plan, actor, aborted } = claim;
  if (aborted && error === aborted) return true;
  if (!isQueueLockError(error)) return false;
  const key = ledger.keyOf(label);
  // If a session ends before the entry of a claim exists, the client opens another session once. So such a
  // claim may fail only when a second session ends too.
  const lostItsSession =
    key === undefined
      ? sessionsLost >= 2
      : sessionsLost > 0 || !server.sessionIds.includes(ledger.sessionOf(key));
  const isLate = plan.timeoutMs !== undefined && waitedMs > plan.timeoutMs - 1;
  const causes: Partial<Record<QueueLockErrorCode, boolean>> = {
    TIMEOUT: isLate,
    CLOSED: actor.closed,
    ACCESS_DENIED: actor.wasRefused(plan.name),
    // A wait that reaches its timeout rejects with UNAVAILABLE while the store does not respond, or while the
    // session is suspect.
    UNAVAILABLE: isLate || (actor.network.hadFailure && (plan.kind === 'tryAcquire' || !actor.alive)),
    ENTRY_LOST: key !== undefined && ledger.evicted.has(key),
    SESSION_LOST: lostItsSession,
    NOT_ENOUGH_TIME: key !== undefined && provenMs(actor.machine, ledger, key) < (plan.minRemainingMs ?? 0),
  };
  return causes[error.code] ?? false;
}

function provenMs(machine: Machine, ledger: Ledger, key: string): number {
  return ledger.leaseOf(ledger.sessionOf(key)).provenUntil - machine.now();
}
