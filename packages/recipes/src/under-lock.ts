import type { ClaimOptions, ClaimState, LockClient, Ownership } from '@queuelock/core';
import type { MonoTypeOperatorFunction, Observable, ObservableNotification } from 'rxjs';
import { aborted } from './wait-limit.ts';
import { EMPTY, dematerialize, distinctUntilChanged, map, merge, switchMap } from './rx.ts';
import { whileHeld } from './while-held.ts';

/**
 * Operator that subscribes to its source once the lock is held, and releases the lock when the source has ended. Subscribing joins the
 * queue. Unsubscribing leaves it or releases the lock.
 *
 * The stream errors with `OWNERSHIP_LOST` when the lock is lost before the source has ended. It does so synchronously, after it has
 * unsubscribed from the source. When the lock was never granted, it errors as `LockClient.acquire` rejects. Each value is emitted only if
 * the lock is still held at that moment. This is checked against the clock, so a loss counts even if the timer that reports it is late. If
 * the source ends after the loss, the stream errors with the loss.
 *
 * The release continues after the stream has ended, and `LockClient.close` waits for it. Do not subscribe inside `LockClient.run` of the
 * same name: the stream would wait for ever, because it has no call chain that shows the hold.
 * @throws {QueueLockError} `INVALID_ARGUMENT` at the call
 * @example
 * const prices$ = feed$.pipe(underLock(client, 'price-feed'));
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
  // The order of the two merged streams matters. At a loss, `whileHeld` unsubscribes from the source before
  // `aborted` emits the error.
  return merge(whileHeld(source$, ownership), aborted(ownership.signal));
}

function ownershipIn(state: ClaimState): Ownership | undefined {
  if (state.status === 'held' || state.status === 'suspect') return state.ownership;
  if (state.status === 'ended' && state.outcome !== 'released') throw state.error;
  return undefined;
}
