import type { Hold } from '@queuelock/core';
import type { ObservableNotification } from 'rxjs';
import { aborted } from './wait-limit.ts';
import { catchError, filter, materialize, of, takeUntil, type Observable } from './rx.ts';

/**
 * Emits what `source$` emits, as notification objects of RxJS, until the hold ends. A loss unsubscribes from
 * `source$` synchronously and completes the stream. Before each emission the stream reads `held`, which detects
 * a loss whose timer is late.
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
