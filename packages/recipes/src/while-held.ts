import type { Hold } from '@queuelock/core';
import type { ObservableNotification } from 'rxjs';
import { aborted } from './patience.ts';
import { catchError, filter, materialize, of, takeUntil, type Observable } from './rx.ts';

/**
 * What the source brings and how it ends, but nothing of it after the hold: a loss unsubscribes from it synchronously, and to look is
 * to learn of a loss that no timer has told. Completes at a loss.
 */
export function whileHeld<T>(
  source$: Observable<T>,
  hold: Pick<Hold, 'held' | 'signal'>,
): Observable<ObservableNotification<T>> {
  const lost$ = aborted(hold.signal).pipe(catchError((reason: unknown) => of(reason)));
  return source$.pipe(
    materialize(),
    filter(() => hold.held),
    takeUntil(lost$),
  );
}
