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

/** Settings of a claim that gives up in a deadlock, with the stream that reports deadlocks. */
export interface YieldOptions extends ClaimOptions {
  /**
   * A stream from `watchDeadlocks` over all queues that may be part of a cycle. The claim subscribes to it only while it waits in the
   * queue.
   */
  readonly deadlocks$: Observable<readonly Deadlock[]>;
}

/**
 * Operator on the states of a claim. When the claim's wait is the `victim` of a deadlock, the claim leaves the queue and ends as `failed`
 * with `DEADLOCK`. Each claim checks only itself, so no client needs the right to remove entries of other clients. A cycle ends only if its
 * victim, the wait that began last, has this operator. So use it for all waits of call chains that hold something. The entry may be removed
 * a little later than the state is emitted.
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
 * Waits for the lock as `LockClient.acquire` does, but rejects with `DEADLOCK` when this wait is the victim of a deadlock. The caller must
 * then release what its call chain holds and start again: until then the other clients of the cycle keep waiting. Holds that were not taken
 * through `run` must be named in `holding`, otherwise the cycle is not detected. Inside `run` of the same name the call waits for itself,
 * which is a deadlock too.
 * @throws {QueueLockError} `DEADLOCK` when this wait is the victim; `INVALID_ARGUMENT` and the errors of `LockClient.acquire`
 * @example
 * const deadlocks$ = watchDeadlocks([{ client, names: ['accounts/1', 'accounts/2'] }]);
 * await client.run('accounts/1', async () => {
 *   await using second = await acquireOrYield(client, 'accounts/2', { deadlocks$ });
 *   await transfer({ token: second.token });
 * });
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

/** Emits the `failed` state of a claim when a deadlock has the wait of this claim as its victim. */
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
  const rule = 'the last to join gave up; release what is held, and start again';
  return new QueueLockError('DEADLOCK', `${describeDeadlock(deadlock)}: ${rule}`);
}
