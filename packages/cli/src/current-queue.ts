import { QueueLockError, isQueueLockError, type LockClient, type QueueState } from '@queuelock/core';
import { filter, firstValueFrom, fromEvent, takeUntil, throwError, timeout } from 'rxjs';

/**
 * Time limit for the first state of a queue in milliseconds, equal to that of a client's first connection.
 */
const FIRST_STATE_TIMEOUT_MS = 5_000;

/**
 * Resolves with the current state of the queue. Rejects with `UNAVAILABLE` when the state is not read in
 * time; the cause of that error is the reason. Rejects at once with an error that a retry cannot cure
 * (`ACCESS_DENIED`, `FOREIGN_FORMAT`), and with the reason of an aborted signal.
 */
export async function currentQueue(
  client: Pick<LockClient, 'watch'>,
  name: string,
  { signal, withinMs = FIRST_STATE_TIMEOUT_MS }: { readonly signal: AbortSignal; readonly withinMs?: number },
): Promise<QueueState> {
  signal.throwIfAborted();
  let trouble: unknown;
  const live$ = client.watch(name).pipe(
    filter((state) => {
      trouble = state.error ?? trouble;
      if (isQueueLockError(trouble) && !trouble.retryable) throw trouble;
      return state.status === 'live';
    }),
    timeout({ first: withinMs, with: () => throwError(() => unseen(name, withinMs, trouble)) }),
    takeUntil(fromEvent(signal, 'abort')),
  );
  const state = await firstValueFrom(live$, { defaultValue: undefined });
  signal.throwIfAborted();
  if (!state) throw new QueueLockError('CLOSED', 'the client was closed before the queue was read');
  return state;
}

function unseen(name: string, withinMs: number, cause: unknown): QueueLockError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  const message = `the server did not show the queue ${JSON.stringify(name)} within ${String(withinMs / 1000)} s${why}`;
  return new QueueLockError('UNAVAILABLE', message, { cause });
}
