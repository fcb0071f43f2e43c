import {
  QueueLockError,
  waitUntilHeld,
  type ClaimOptions,
  type ClaimState,
  type LockClient,
  type Ownership,
} from '@queuelock/core';
import { CLAIM_OPTIONS, checkedObject, checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { describeDeadlock, type Deadlock } from './deadlock.ts';
import {
  EMPTY,
  concatMap,
  connect,
  distinctUntilChanged,
  map,
  merge,
  switchMap,
  take,
  takeWhile,
  type Observable,
} from './rx.ts';

/** What a claim is made with, and where it learns of deadlocks. */
export interface YieldOptions extends ClaimOptions {
  /** From `watchDeadlocks` over all queues that may be part of a circle. Looked at only while the claim waits in line. */
  readonly deadlocks$: Observable<readonly Deadlock[]>;
}

/**
 * For the states of a claim: leaves the queue when its wait is the `victim` of a deadlock, and ends as `failed` with `DEADLOCK`.
 * Nobody needs rights on what is others': every claim looks after itself. A circle ends only if its youngest wait has this operator,
 * so waits of call chains that hold something should all have it. As everywhere, the entry may be gone a little later than the state.
 */
export function yieldOnDeadlock(
  deadlocks$: Observable<readonly Deadlock[]>,
): MonoTypeOperatorFunction<ClaimState> {
  return (claim$) =>
    claim$.pipe(
      connect((state$) => merge(state$, endsBy(deadlocks$, state$))),
      takeWhile(({ status }) => status !== 'ended', true),
    );
}

/**
 * Waits for the lock as `LockClient.acquire` does, but rejects with `DEADLOCK` when its wait is the one that should give up. Release
 * then what the call chain holds, and begin anew: as long as it is held, the others go on waiting. What is held by other means than
 * `run` has to be told with `holding`, or nobody sees the circle.
 * Inside `run` of the same name it waits for itself, which is a deadlock too. Rejects with `INVALID_ARGUMENT` as `acquire`.
 */
export async function acquireOrYield(
  client: Pick<LockClient, 'claim'>,
  name: string,
  options: YieldOptions,
): Promise<Ownership> {
  const { deadlocks$, ...claim } = checkedOptions('options of acquireOrYield', options, OPTIONS);
  return waitUntilHeld(
    client.claim(name, claim).pipe(yieldOnDeadlock(checkedObject('deadlocks$', deadlocks$))),
  );
}

const OPTIONS: KnownOptions<YieldOptions> = { ...CLAIM_OPTIONS, deadlocks$: 'object' };

/** The end of a claim, once a deadlock asks it to give up while it waits. */
function endsBy(
  deadlocks$: Observable<readonly Deadlock[]>,
  state$: Observable<ClaimState>,
): Observable<ClaimState> {
  return state$.pipe(
    map((state) => (state.status === 'queued' ? state.id : undefined)),
    distinctUntilChanged(),
    switchMap((id) => (id === undefined ? EMPTY : deadlocks$.pipe(concatMap(thoseThatAsk(id)), take(1)))),
    map((deadlock): ClaimState => ({ status: 'ended', outcome: 'failed', error: errorOf(deadlock) })),
  );
}

function thoseThatAsk(id: string): (deadlocks: readonly Deadlock[]) => readonly Deadlock[] {
  return (deadlocks) => deadlocks.filter(({ victim }) => victim.entry.id === id);
}

function errorOf(deadlock: Deadlock): QueueLockError {
  const rule = 'the last to join gave up; release what is held, and begin anew';
  return new QueueLockError('DEADLOCK', `${describeDeadlock(deadlock)}: ${rule}`);
}
