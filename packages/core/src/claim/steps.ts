import type { ClaimState } from '../api/claim-state.ts';
import type { Entry } from '../entry/entry.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import { OvertakenError } from '../handover/evictions.ts';
import { exposedKey } from '../entry/exposed-key.ts';
import type { HandoverAnswer } from '../api/handover-api.ts';
import { jsonable } from '../base/jsonable.ts';
import { ofLock } from './of-lock.ts';
import type { Turn } from '../api/spi.ts';
import type { ClaimRequest } from '../entry/new-entry.ts';

/**
 * The step that a contender is at.
 *
 *     joining ──► waiting ──► holding ──► leaving ──► ended
 *        │           └───────────┴───────────┴──► ending ──► ended
 *        └──► ended
 *
 * `leaving`: the owner has released the hold, and the server has not confirmed that yet. `ending`: the session or the entry was lost, and the
 * contender reads the reason.
 */
export type Step = 'joining' | 'waiting' | 'holding' | 'leaving' | 'ending' | 'ended';

/** The last state of a claim: its hold was released or lost, or the claim was never granted. */
export type Ended = Extract<ClaimState, { readonly status: 'ended' }>;

export const JOINING: ClaimState = { status: 'joining' };
export const RELEASED: Ended = { status: 'ended', outcome: 'released' };

/** Creates the state of a claim that waits. */
export function queued(entry: Entry, turn: Turn, answer: HandoverAnswer | undefined): ClaimState {
  const { order, token } = entry.placement;
  const place = {
    status: 'queued' as const,
    entriesAhead: turn.ahead,
    order,
    token,
    // Reading the key has a side effect. So the state has a getter, which runs only when the caller reads the key.
    get key(): string {
      return exposedKey(entry.live, entry);
    },
    id: entry.spec.id,
  };
  return jsonable<ClaimState>(answer ? Object.assign(place, { answer }) : place);
}

/** Creates the final state of a claim that never held the lock. */
export function failed(error: unknown): Ended {
  return jsonable<Ended>({ status: 'ended', outcome: 'failed', error });
}

/** Adds the lock's name to the error of a failed claim. The reason of the caller's own signal stays unchanged. */
export function inWords(end: Ended, { queue, waitLimit }: ClaimRequest, endpoint: string): Ended {
  if (end.outcome !== 'failed' || end.error === waitLimit.signal?.reason) return end;
  const reported = ofLock(end.error, { name: queue, endpoint });
  return reported === end.error ? end : failed(reported);
}

/** Creates the error of a wait that ends because the client begins to close. */
export function closedOf(name: string, why: QueueLockError): QueueLockError {
  return new QueueLockError('CLOSED', `${JSON.stringify(name)}: ${detailOf(why)}`, {
    reason: 'client-closed',
  });
}

/** Returns whether a turn equals the previous one. For an admitted claim, the number of entries ahead does not matter. */
export function sameTurn(before: Turn | undefined, now: Turn): boolean {
  return before?.admitted === now.admitted && (now.admitted || before.ahead === now.ahead);
}

/**
 * Decides how a claim continues after a contender ended before it held. It ends, except in two cases:
 * - `in a new session`: the session had ended before the entry was in the queue. The claim had no entry in the queue yet, so it joins with a new
 *   session.
 * - `behind`: a holder let another entry pass and removed this claim's entry. The claim joins again behind the other entry. Claims of a multi-lock
 *   join again in one request.
 */
export function afterAttempt(
  cause: unknown,
  { mayBeStale, isTogether }: { readonly mayBeStale: boolean; readonly isTogether: boolean },
): 'in a new session' | 'behind' | 'end' {
  if (mayBeStale && isQueueLockError(cause, 'SESSION_LOST')) return 'in a new session';
  return cause instanceof OvertakenError && !isTogether ? 'behind' : 'end';
}
