import {
  QueueLockError,
  isQueueLockError,
  quote,
  type LockClient,
  type QueueState,
  type RecordedHoldsState,
} from '@queuelock/core';
import { filter, firstValueFrom, fromEvent, takeUntil, throwError, timeout, type Observable } from 'rxjs';

/**
 * Time limit for reading a queue, in milliseconds. It equals the time limit of a client's first connection.
 */
const FIRST_STATE_TIMEOUT_MS = 5_000;

/** The limits of the wait until a stream of queue states emits its first state. */
interface Wait {
  readonly signal: AbortSignal;
  readonly withinMs?: number;
}

/**
 * Resolves with the current state of the queue. Rejects with `UNAVAILABLE` when the state is not read in
 * time; the `cause` names the reason. Rejects at once with an error that a retry cannot cure
 * (`ACCESS_DENIED`, `FOREIGN_FORMAT`), and with the reason of an aborted signal.
 */
export function currentQueue(
  client: Pick<LockClient, 'watch'>,
  name: string,
  wait: Wait,
): Promise<QueueState> {
  return firstLive(client.watch(name), `the queue ${quote(name)}`, wait);
}

/**
 * Resolves with the recorded holds of the queue, or with `undefined` for a store without records. Rejects in
 * the same cases as {@link currentQueue}.
 */
export async function currentRecord(
  client: Pick<LockClient, 'recordedHolds'>,
  name: string,
  wait: Wait,
): Promise<RecordedHoldsState | undefined> {
  let state$: Observable<RecordedHoldsState>;
  try {
    state$ = client.recordedHolds(name);
  } catch (error) {
    if (isQueueLockError(error, 'INVALID_ARGUMENT')) return undefined;
    throw error;
  }
  return firstLive(state$, `the holds of ${quote(name)}`, wait);
}

async function firstLive<S extends Pick<QueueState, 'status' | 'error'>>(
  state$: Observable<S>,
  what: string,
  { signal, withinMs = FIRST_STATE_TIMEOUT_MS }: Wait,
): Promise<S> {
  signal.throwIfAborted();
  let failure: unknown;
  const live$ = state$.pipe(
    filter((state) => {
      failure = state.error ?? failure;
      if (isQueueLockError(failure) && !failure.retryable) throw failure;
      return state.status === 'live';
    }),
    timeout({ first: withinMs, with: () => throwError(() => unseen(what, withinMs, failure)) }),
    takeUntil(fromEvent(signal, 'abort')),
  );
  const state = await firstValueFrom(live$, { defaultValue: undefined });
  signal.throwIfAborted();
  if (!state) throw new QueueLockError('CLOSED', `the client was closed before ${what} was read`);
  return state;
}

function unseen(what: string, withinMs: number, cause: unknown): QueueLockError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  const message = `the server did not show ${what} within ${String(withinMs / 1000)} s${why}`;
  return new QueueLockError('UNAVAILABLE', message, { cause });
}
