import { QueueLockError, isQueueLockError, type LockClient, type QueueState } from '@queuelock/core';
import { filter, firstValueFrom, fromEvent, takeUntil, throwError, timeout } from 'rxjs';

/** Time limit in milliseconds, equal to that of a client's first connection. */
const FIRST_STATE_TIMEOUT_MS = 5_000;

/**
 * Resolves with the current state of the queue. Rejects with `UNAVAILABLE` when the server does not show it in time, with the
 * reason as the cause. Rejects at once with an error that waiting does not cure (`ACCESS_DENIED`, `FOREIGN_FORMAT`), and with the
 * signal's reason.
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
