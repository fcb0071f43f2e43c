import type { ClaimOptions, ClaimState, LockClient, Ownership } from '@queuelock/core';
import type { MonoTypeOperatorFunction, Observable, ObservableNotification } from 'rxjs';
import { aborted } from './patience.ts';
import { EMPTY, dematerialize, distinctUntilChanged, map, merge, switchMap } from './rx.ts';
import { whileHeld } from './while-held.ts';

/**
 * Subscribes to the source once the lock is held, and gives the lock up when the source has ended. Subscribing joins the queue;
 * unsubscribing leaves it, or releases.
 *
 * Errors with `OWNERSHIP_LOST` when the lock is lost before the source has ended, synchronously and after it has unsubscribed from
 * the source; with what ended the wait when the turn never came, as `LockClient.acquire`. Values pass only while the lock is held by
 * the clock, also when timers are late; an end of the source that came after the loss counts as the loss.
 * The release goes on after the result has ended; `LockClient.close` waits for it. Inside `LockClient.run` of the same name it
 * waits for ever: a stream has no call chain.
 * @throws {QueueLockError} `INVALID_ARGUMENT` at the call.
 */
export function underLock<T>(
  client: Pick<LockClient, 'claim'>,
  name: string,
  options?: ClaimOptions,
): MonoTypeOperatorFunction<T> {
  const ownership$ = client.claim(name, options).pipe(map(ownershipIn), distinctUntilChanged());
  return (source$) =>
    ownership$.pipe(
      switchMap((ownership) => (ownership ? underHold(source$, ownership) : EMPTY)),
      dematerialize(),
    );
}

function underHold<T>(source$: Observable<T>, ownership: Ownership): Observable<ObservableNotification<T>> {
  // In this order: the loss ends the source before it is told.
  return merge(whileHeld(source$, ownership), aborted(ownership.signal));
}

function ownershipIn(state: ClaimState): Ownership | undefined {
  if (state.status === 'held' || state.status === 'suspect') return state.ownership;
  if (state.status === 'ended' && state.outcome !== 'released') throw state.error;
  return undefined;
}
