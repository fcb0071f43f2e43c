import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Election } from './election-api.ts';
import { EMPTY, dematerialize, switchMap } from './rx.ts';
import { whileHeld } from './while-held.ts';

/**
 * Operator that subscribes to its source while this process leads, and unsubscribes synchronously at a loss. Then it campaigns again, and
 * subscribes again when it leads. All uses of the same `election` object share one candidate, that of `candidacy$`.
 *
 *     campaign ── elected: subscribe ── lost: unsubscribe ── campaign … elected: subscribe ── the source ends: resign
 *
 * Each value is emitted only if this process still leads at that moment. This is checked against the clock, so a loss counts even if the
 * timer that reports it is late. When the source completes or errors, the stream does the same and the candidate resigns. If the source
 * ends after a loss, the stream continues. Unsubscribing withdraws or resigns. The stream errors like `Election.candidacy$`, and completes
 * with it when the client is closed.
 *
 * If the source has effects outside this process, it needs the fencing token: then use `Election.candidacy$` with `switchMap`.
 * @example
 * const jobs$ = schedule$.pipe(whileLeader(scheduler));
 */
export function whileLeader<T>(election: Pick<Election, 'candidacy$'>): MonoTypeOperatorFunction<T> {
  return (source$) =>
    election.candidacy$.pipe(
      switchMap((leadership) => (leadership ? whileHeld(source$, leadership) : EMPTY)),
      dematerialize(),
    );
}
