import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Election } from './election-api.ts';
import { EMPTY, dematerialize, switchMap } from './rx.ts';
import { whileHeld } from './while-held.ts';

/**
 * Subscribes to the source while this process leads, and unsubscribes synchronously at a loss; then campaigns again, and
 * subscribes again when it leads. All that is under the same `election` shares one candidate: that of `candidacy$`.
 *
 *     campaign ── elected: subscribe ── lost: unsubscribe ── campaign … elected: subscribe ── the source ends: resign
 *
 * Values pass only while the leadership is held by the clock, also when timers are late. When the source completes or errors, so
 * does the result, and the candidate resigns; an end that came after the loss counts as the loss. Unsubscribing withdraws or resigns.
 * Errors as `Election.candidacy$`, and completes with it when the client is closed.
 * For an effect that others can see the source needs the fencing token: see `Election.candidacy$` with `switchMap`.
 */
export function whileLeader<T>(election: Pick<Election, 'candidacy$'>): MonoTypeOperatorFunction<T> {
  return (source$) =>
    election.candidacy$.pipe(
      switchMap((leadership) => (leadership ? whileHeld(source$, leadership) : EMPTY)),
      dematerialize(),
    );
}
