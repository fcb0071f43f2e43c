import { QueueLockError, isQueueLockError, type SharedRegister } from '@queuelock/core';
import {
  EMPTY,
  catchError,
  concat,
  distinctUntilChanged,
  filter,
  map,
  throwError,
  type Observable,
} from './rx.ts';

/**
 * Emits the text of a register, and later changes. Emits nothing while the server cannot be reached. Errors
 * with `CLOSED` when the client is closed.
 */
export function liveText(state$: SharedRegister['state$']): Observable<string | undefined> {
  const closed$ = throwError(() => new QueueLockError('CLOSED', 'the client was closed'));
  return concat(state$, closed$).pipe(
    filter(({ status }) => status === 'live'),
    map(({ text }) => text),
    distinctUntilChanged(),
  );
}

/**
 * Emits the values of `source$`. Completes when `source$` errors with `CLOSED`, because closing the client is
 * a normal end.
 */
export function untilClosed<T>(source$: Observable<T>): Observable<T> {
  return source$.pipe(
    catchError((error: unknown) => {
      if (isQueueLockError(error, 'CLOSED')) return EMPTY;
      throw error;
    }),
  );
}
