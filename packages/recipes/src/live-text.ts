import { QueueLockError, type SharedRegister } from '@queuelock/core';
import { concat, distinctUntilChanged, filter, map, throwError, type Observable } from './rx.ts';

/** What a register holds, as long as the server says so; errors with `CLOSED` when the client is closed. */
export function liveText({ state$ }: SharedRegister): Observable<string | undefined> {
  return concat(state$, throwError(clientClosed)).pipe(
    filter(({ status }) => status === 'live'),
    map(({ text }) => text),
    distinctUntilChanged(),
  );
}

export function clientClosed(): QueueLockError {
  return new QueueLockError('CLOSED', 'the client was closed');
}
