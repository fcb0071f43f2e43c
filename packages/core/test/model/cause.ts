import { isQueueLockError } from '../../src/index.ts';
import type { Actor } from './actor.ts';
import type { ClaimPlan } from './plan.ts';
import type { World } from './world.ts';

/** A claim that failed, as its program knows it. */
export interface Failure {
  readonly label: string;
  readonly plan: ClaimPlan;
  readonly actor: Actor;
  readonly waitedMs: number;
  /** Sessions of its client that ended during the wait. */
  readonly sessionsLost: number;
  /** The reason of its signal, if that has aborted. */
  readonly aborted: Error | undefined;
}

/** Whether a claim may fail with this error: it is typed, and what it says has happened. */
export function hasCause(error: unknown, failure: Failure, { ledger, server }: World): boolean {
  const { label, plan, actor, waitedMs, sessionsLost, aborted } = failure;
  if (aborted && error === aborted) return true;
  if (!isQueueLockError(error)) return false;
  const key = ledger.keyOf(label);
  switch (error.code) {
    case 'TIMEOUT':
      return plan.timeoutMs !== undefined && waitedMs > plan.timeoutMs - 1;
    case 'CLOSED':
      return actor.closed;
    case 'ACCESS_DENIED':
      return actor.wasRefused(plan.name);
    case 'UNAVAILABLE':
      return actor.network.hadTrouble && (plan.way === 'tryAcquire' || !actor.alive);
    case 'ENTRY_LOST':
      return key !== undefined && ledger.evicted.has(key);
    case 'SESSION_LOST':
      // Before it had a place it may go on in a second session, not in a third.
      if (key === undefined) return sessionsLost >= 2;
      return sessionsLost > 0 || !server.sessionIds.includes(ledger.sessionOf(key));
    default:
      return false;
  }
}
