// Folder "multi": claims several names at once, all or nothing.
// multi.ts (this file) combines several claims. together.ts lets them join with one request. multi-lock.ts implements the public interface.

import type { MultiClaimState } from '../api/api.ts';
import type { ClaimState } from '../api/claim-state.ts';
import { inCallerContext } from '../base/caller-context.ts';
import { beginningWith } from '../base/beginning-with.ts';
import type { Enqueue } from '../entry/entry.ts';
import { QueueLockError, isQueueLockError } from '../api/errors.ts';
import { OvertakenError } from '../handover/evictions.ts';
import type { MultiOwnership, Ownership } from '../api/hold-api.ts';
import { jsonable } from '../base/jsonable.ts';
import { claim } from '../claim/lock.ts';
import type { ClaimContext } from '../claim/claim-context.ts';
import { Moment } from '../base/moment.ts';
import { HeldTogether } from './multi-ownership.ts';
import {
  catchError,
  combineLatest,
  defer,
  distinctUntilChanged,
  filter,
  map,
  of,
  retry,
  takeWhile,
  tap,
  type Observable,
} from '../base/rx.ts';
import { Together } from './together.ts';
import { limitedBy, type WaitLimit } from '../work/wait-limit.ts';
import { newEntryId, type ClaimRequest } from '../entry/new-entry.ts';

/**
 * Combines several claims, all or nothing. One request adds all their entries. Of any two multi-locks, one is ahead of the other in every queue that
 * both use. So multi-locks cannot wait for each other in a cycle. Subscribing joins the queues. Unsubscribing leaves all queues or releases all
 * locks. Never errors.
 */
export function claimTogether(
  context: ClaimContext,
  requests: readonly ClaimRequest[],
  waitLimit: WaitLimit,
): Observable<MultiClaimState> {
  return defer(() => {
    const granted = new Moment();
    let latest: unknown;
    const problem = (why: unknown): void => {
      latest = why;
    };
    const story$ = defer(() => join({ ...context, problem }, requests, waitLimit)).pipe(
      tap(({ status }) => {
        if (status === 'held') granted.come();
      }),
      retry({ delay: (error) => onlyIfRemoved(error, waitLimit) }),
    );
    const waiting = {
      clock: context.clock,
      what: JSON.stringify(requests.map(({ queue }) => queue)),
      granted,
      problem: () => latest ?? context.openingTrouble(),
    };
    return story$.pipe(
      limitedBy(waitLimit, waiting),
      catchError((error: unknown) => of(failed(error))),
      beginningWith<MultiClaimState>({ status: 'joining' }),
      distinctUntilChanged(sameState),
      takeWhile(({ status }) => status !== 'ended', true),
    );
  });
}

function join(
  context: ClaimContext,
  requests: readonly ClaimRequest[],
  { timeoutMs }: WaitLimit,
): Observable<MultiClaimState> {
  const together = new Together(requests.length, { isTry: timeoutMs === 0 });
  const enqueue: Enqueue = (session, spec, stop) => together.enqueue(session, spec, stop);
  const claims = asOne(requests, timeoutMs).map((request) =>
    // The combined hold listens to the signals of the single holds. They must run these listeners in the
    // caller's context.
    inCallerContext(claim({ ...context, enqueue }, request)),
  );
  let arePlaced = false;
  let ownership: HeldTogether | undefined;
  return combineLatest(claims).pipe(
    map((states): MultiClaimState => {
      throwIfRemoved(states, arePlaced);
      arePlaced ||= states.every(({ status }) => status !== 'joining');
      const end = endOf(states, ownership);
      if (end) return end;
      // When the caller releases the ownership of one name, all names are released.
      if (states.some(({ status }) => status === 'ended')) void ownership?.release();
      const holds = states.map(ownershipIn).filter((hold) => hold !== undefined);
      if (holds.length === states.length) ownership ??= new HeldTogether(holds);
      if (!ownership) return waiting(states, requests, timeoutMs);
      const isSuspect = states.some(({ status }) => status === 'suspect');
      return { status: isSuspect ? 'suspect' : 'held', ownership };
    }),
    // After the loss of a hold, the claim emits only its final state.
    filter((state) => !('ownership' in state) || state.ownership.held),
  );
}

/**
 * Returns the requests of the single claims. The claims end together, so they have no timeouts of their own, except in a try, which makes one
 * attempt. The label of each entry lists the other entries as held.
 */
function asOne(requests: readonly ClaimRequest[], timeoutMs: number | undefined): readonly ClaimRequest[] {
  const waitLimit = timeoutMs === 0 ? { timeoutMs } : {};
  const ids = requests.map(newEntryId);
  return requests.map(({ label, ...request }, at) => {
    const siblings = ids.filter((id) => id !== ids[at]);
    return {
      ...request,
      waitLimit,
      id: ids[at],
      label: typeof label === 'string' ? label : { ...label, holds: [...(label.holds ?? []), ...siblings] },
    };
  });
}

/**
 * Throws if all claims have to join again. That is so if a holder removed an entry to let a waiter behind it pass, or if an entry was removed before
 * all claims had joined.
 */
function throwIfRemoved(states: readonly ClaimState[], arePlaced: boolean): void {
  for (const state of states) {
    if (state.status !== 'ended' || state.outcome !== 'failed') continue;
    const { error } = state;
    if (error instanceof OvertakenError || (!arePlaced && isQueueLockError(error, 'ENTRY_LOST'))) throw error;
  }
}

/** Returns the final state of the first claim that ended by itself. Claims that were only released because of another one do not count. */
function endOf(
  states: readonly ClaimState[],
  ownership: MultiOwnership | undefined,
): MultiClaimState | undefined {
  const ended = states.filter((state) => state.status === 'ended');
  const failure = ended.find(({ outcome }) => outcome !== 'released');
  // A claim was lost before all claims were held, so the multi-lock counts as never granted.
  if (failure?.outcome === 'lost' && !ownership) return failed(failure.error.cause);
  if (failure) return failure;
  return ended.length === states.length ? ended[0] : undefined;
}

function waiting(
  states: readonly ClaimState[],
  requests: readonly ClaimRequest[],
  timeoutMs: number | undefined,
): MultiClaimState {
  if (states.some(({ status }) => status === 'joining')) return { status: 'joining' };
  const waitingFor = requests.filter((_, at) => states[at]?.status === 'queued').map(({ queue }) => queue);
  if (timeoutMs !== 0 || waitingFor.length === 0) return { status: 'queued', waitingFor };
  return failed(new QueueLockError('TIMEOUT', `${JSON.stringify(waitingFor[0])} is not free (timeoutMs 0)`));
}

/** Returns the ownership of a claim that holds now. Returns `undefined` as soon as the hold is lost, even before the claim has ended. */
function ownershipIn(state: ClaimState): Ownership | undefined {
  const ownership = state.status === 'held' || state.status === 'suspect' ? state.ownership : undefined;
  return ownership?.held ? ownership : undefined;
}

function failed(error: unknown): MultiClaimState {
  return jsonable<MultiClaimState>({ status: 'ended', outcome: 'failed', error });
}

function sameState(before: MultiClaimState, now: MultiClaimState): boolean {
  if (before.status === 'queued' && now.status === 'queued')
    return before.waitingFor.join('\n') === now.waitingFor.join('\n');
  return before.status === now.status;
}

/**
 * Emits `true` if the claims should join again because an entry was removed. Otherwise throws the error. A try always throws, because it makes one
 * attempt.
 */
function onlyIfRemoved(error: unknown, { timeoutMs }: WaitLimit): Observable<unknown> {
  if (isQueueLockError(error, 'ENTRY_LOST') && timeoutMs !== 0) return of(true);
  throw error;
}
