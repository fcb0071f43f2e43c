import { QueueLockError, isQueueLockError, type LockClient, type QueuesState } from '@queuelock/core';
import {
  ReplaySubject,
  filter,
  firstValueFrom,
  fromEvent,
  ignoreElements,
  merge,
  share,
  takeUntil,
  timer,
} from 'rxjs';

// Time limit in milliseconds for reading the first list of queues. Reading ten thousand queues takes some
// seconds on busy servers.
const FIRST_LIST_TIMEOUT_MS = 15_000;
/**
 * Time limit of a client's first connection in milliseconds. A retryable error within this time does not end
 * the command, because a repeated attempt may succeed.
 */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Resolves with the queues whose names begin with `prefix`. Rejects with `UNAVAILABLE` when they are not read
 * in time. Rejects at once with an error that a retry cannot cure, and with the reason of an aborted signal.
 */
export async function currentQueues(
  client: Pick<LockClient, 'queues'>,
  prefix: string,
  signal: AbortSignal,
): Promise<QueuesState> {
  signal.throwIfAborted();
  let error: unknown;
  const live$ = client.queues(prefix).pipe(
    filter((state) => {
      error = state.error ?? error;
      if (isQueueLockError(error) && !error.retryable) throw error;
      return state.status === 'live';
    }),
  );
  const timeout$ = timer(CONNECT_TIMEOUT_MS, FIRST_LIST_TIMEOUT_MS - CONNECT_TIMEOUT_MS).pipe(
    filter((number) => {
      // The stream `client.queues` would retry forever, but the user of a command has to learn why the queues
      // cannot be read.
      if (number > 0 || error !== undefined) throw unseen(error);
      return false;
    }),
    ignoreElements(),
  );
  const seen$ = merge(live$, timeout$).pipe(takeUntil(fromEvent(signal, 'abort')));
  const state = await firstValueFrom(seen$, { defaultValue: undefined });
  signal.throwIfAborted();
  if (!state) throw new QueueLockError('CLOSED', 'the client was closed before the queues were read');
  return state;
}

/**
 * Shares one stream of the queues with this prefix among all subscribers. Keeps it open for a second after
 * the last one has unsubscribed, because a long list takes time to read.
 */
export function shareQueues(client: Pick<LockClient, 'queues'>, prefix: string): Pick<LockClient, 'queues'> {
  const shared$ = client.queues(prefix).pipe(
    share({
      connector: () => new ReplaySubject(1),
      resetOnComplete: true,
      resetOnError: true,
      resetOnRefCountZero: () => timer(1_000),
    }),
  );
  return {
    queues() {
      return shared$;
    },
  } satisfies Pick<LockClient, 'queues'>;
}

function unseen(cause: unknown): QueueLockError {
  const why =
    cause instanceof Error ? cause.message : `no response within ${String(FIRST_LIST_TIMEOUT_MS / 1_000)} s`;
  return new QueueLockError('UNAVAILABLE', `the server did not show its queues: ${why}`, { cause });
}
