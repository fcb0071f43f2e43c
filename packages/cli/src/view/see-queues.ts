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

// A walk through ten thousand queues takes some seconds where the servers are busy.
const SEEN_WITHIN_MS = 15_000;
/** As long as a client gives a first connection: trouble until then may pass. */
const CONNECTED_WITHIN_MS = 5_000;

/** The queues as they are now; rejects as `seeQueue` does. */
export async function seeQueues(
  client: Pick<LockClient, 'queues'>,
  prefix: string,
  signal: AbortSignal,
): Promise<QueuesState> {
  signal.throwIfAborted();
  let trouble: unknown;
  const live$ = client.queues(prefix).pipe(
    filter((state) => {
      trouble = state.error ?? trouble;
      if (isQueueLockError(trouble) && !trouble.retryable) throw trouble;
      return state.status === 'live';
    }),
  );
  const patience$ = timer(CONNECTED_WITHIN_MS, SEEN_WITHIN_MS - CONNECTED_WITHIN_MS).pipe(
    filter((number) => {
      // The stream goes on trying; somebody at a prompt wants to know.
      if (number > 0 || trouble !== undefined) throw unseen(trouble);
      return false;
    }),
    ignoreElements(),
  );
  const seen$ = merge(live$, patience$).pipe(takeUntil(fromEvent(signal, 'abort')));
  const state = await firstValueFrom(seen$, { defaultValue: undefined });
  signal.throwIfAborted();
  if (!state) throw new QueueLockError('CLOSED', 'the client was closed before the queues were seen');
  return state;
}

/** One list for all who look at these queues one after the other or at the same time: a long one takes its time. */
export function sharingQueues(
  client: Pick<LockClient, 'queues'>,
  prefix: string,
): Pick<LockClient, 'queues'> {
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
  const why = cause instanceof Error ? cause.message : `no answer within ${String(SEEN_WITHIN_MS / 1_000)} s`;
  return new QueueLockError('UNAVAILABLE', `the server did not show its queues: ${why}`, { cause });
}
