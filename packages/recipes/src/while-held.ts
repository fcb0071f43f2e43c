import type { Hold } from '@queuelock/core';
import type { ObservableNotification } from 'rxjs';
import { aborted } from './wait-limit.ts';
import { catchError, filter, materialize, of, takeUntil, type Observable } from './rx.ts';

/**
 * Emits the notifications of the source, but none after the hold has ended. A loss unsubscribes from the source synchronously. Reading
 * `held` for each notification detects a loss whose timer is late. Completes at a loss.
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
