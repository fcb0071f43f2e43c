// Folder "work": runs work under a hold, and ends waits and work by signals and timeouts.
// wait-limit.ts (this file) ends a wait by a signal or a timeout. work.ts runs a callback under a hold. closing.ts notifies waits and work
// when the client closes. works.ts counts running work.

import { setMaxListeners } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { QueueLockError, detailOf } from '../api/errors.ts';
import type { Moment } from '../base/moment.ts';
import { Observable, identity, merge, takeUntil, type MonoTypeOperatorFunction } from '../base/rx.ts';

/** The result of `WaitContext.problem` while a request has no response yet. A timeout that passes meanwhile ends the wait with `UNAVAILABLE`. */
export const WITHOUT_RESPONSE: unique symbol = Symbol('unanswered');

/** The limits of a wait. */
export interface WaitLimit {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The clock of a wait, and the data from which the error of its timeout is made. */
export interface WaitContext {
  readonly clock: Clock;
  /** Name of the lock or state that is awaited, for messages. */
  readonly what: string;
  /** Returns the last failure if the wait continues because of it, or `WITHOUT_RESPONSE`. Default: no failure. */
  readonly problem?: () => unknown;
}

interface Waiting extends WaitContext {
  /** Event: the wait has succeeded, for instance with the grant. Its limits then no longer apply. */
  readonly granted: Moment;
}

/** Returns whether a signal or a timeout may end the wait. */
export function isLimited({ signal, timeoutMs }: WaitLimit): boolean {
  return signal !== undefined || isLimit(timeoutMs);
}

function isLimit(timeoutMs: number | undefined): timeoutMs is number {
  return timeoutMs !== undefined && timeoutMs > 0 && timeoutMs !== Infinity;
}

/**
 * Calls `end` when the signal aborts or the timeout has passed. The error is the signal's reason, or `TIMEOUT`. It is `UNAVAILABLE` if requests were
 * failing when the timeout came.
 * @returns a function that removes the limit; `undefined` if the signal has aborted already
 */
export function limitWait(
  { signal, timeoutMs }: WaitLimit,
  context: WaitContext,
  end: (error: unknown) => void,
): (() => void) | undefined {
  const abort = (): void => {
    end(signal?.reason);
  };
  if (signal?.aborted) {
    abort();
    return undefined;
  }
  if (signal) {
    // Many waits may use the same signal. By default, Node warns of a leak at the eleventh listener.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort);
  }
  const cancel = isLimit(timeoutMs)
    ? context.clock.after(timeoutMs, () => {
        end(timedOut(timeoutMs, context));
      })
    : undefined;
  return () => {
    signal?.removeEventListener('abort', abort);
    cancel?.();
  };
}

/** Like `limitWait`, but as a stream, which errors at the limit and emits nothing. */
export function waitLimit(limit: WaitLimit, context: WaitContext): Observable<never> {
  return new Observable((subscriber) =>
    limitWait(limit, context, (error) => {
      subscriber.error(error);
    }),
  );
}

/** Applies `waitLimit` to a stream until the grant. Returns a stream without a limit unchanged. */
export function limitedBy<T>(limit: WaitLimit, waiting: Waiting): MonoTypeOperatorFunction<T> {
  if (!isLimited(limit)) return identity;
  const granted$ = waiting.granted.come$;
  return (story$) => merge(waitLimit(limit, waiting).pipe(takeUntil(granted$)), story$);
}

/**
 * Creates the error of a timeout. It is `UNAVAILABLE` for a client that cannot reach the store and so does not know whether the lock is held. Callers
 * take `TIMEOUT` to mean that the lock is busy.
 */
function timedOut(timeoutMs: number, { what, problem }: WaitContext): QueueLockError {
  const cause = causeIn(problem?.());
  const late = `${what}: not granted within ${String(Math.round(timeoutMs))} ms (timeoutMs)`;
  if (cause === undefined)
    return new QueueLockError('TIMEOUT', `${late}: other holders or waiters are ahead`);
  return new QueueLockError(
    'UNAVAILABLE',
    `${late}, and the state of the queue is unknown: ${detailOf(cause)}`,
    {
      cause,
    },
  );
}

function causeIn(failure: unknown): unknown {
  return failure === WITHOUT_RESPONSE
    ? new QueueLockError('UNAVAILABLE', 'the store has not responded yet')
    : failure;
}
