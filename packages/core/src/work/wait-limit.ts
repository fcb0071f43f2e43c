// The folder work answers: what ends a wait, and what stops running work?
// wait-limit.ts (this file): a signal or a timeout ends a wait. work.ts: runs work under a hold. closing.ts, works.ts: the end of the client.

import { setMaxListeners } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { QueueLockError, detailOf } from '../api/errors.ts';
import type { Moment } from '../base/moment.ts';
import { Observable, identity, merge, takeUntil, type MonoTypeOperatorFunction } from '../base/rx.ts';

/** Represents the failure of a request that has no response yet, so that a timeout then is reported as `UNAVAILABLE`. */
export const UNANSWERED: unique symbol = Symbol('unanswered');

/** The limits of a wait. */
export interface WaitLimit {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The context of a limited wait. */
export interface WaitContext {
  readonly clock: Clock;
  /** Name of the awaited lock or state, for messages. */
  readonly what: string;
  /** Returns the last failure, if that is why the wait continues, or `UNANSWERED`. Default: none. */
  readonly trouble?: () => unknown;
}

interface Waiting extends WaitContext {
  /** Completes when the wait has succeeded. */
  readonly granted: Moment;
}

/** Whether a signal or a timeout may end the wait. */
export function isLimited({ signal, timeoutMs }: WaitLimit): boolean {
  return signal !== undefined || isLimit(timeoutMs);
}

function isLimit(timeoutMs: number | undefined): timeoutMs is number {
  return timeoutMs !== undefined && timeoutMs > 0 && timeoutMs !== Infinity;
}

/**
 * Calls `end` with the signal's reason when it aborts, or at the timeout with `TIMEOUT`, or `UNAVAILABLE` if there was trouble at that moment.
 * @returns a function that lifts the limit; `undefined` if the signal has aborted already
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
    // One signal may end many waits. By default, Node warns of a leak at the eleventh listener.
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

/** Returns `limitWait` as a stream, which errors at the limit and emits nothing. */
export function waitLimit(limit: WaitLimit, context: WaitContext): Observable<never> {
  return new Observable((subscriber) =>
    limitWait(limit, context, (error) => {
      subscriber.error(error);
    }),
  );
}

/** Applies `waitLimit` to a stream until the grant. A stream without a limit is returned unchanged. */
export function limitedBy<T>(limit: WaitLimit, waiting: Waiting): MonoTypeOperatorFunction<T> {
  if (!isLimited(limit)) return identity;
  const granted$ = waiting.granted.come$;
  return (story$) => merge(waitLimit(limit, waiting).pipe(takeUntil(granted$)), story$);
}

/**
 * Creates the timeout error. A client that cannot reach the store does not know whether the lock is held. That is no `TIMEOUT`, which callers treat
 * as busy.
 */
function timedOut(timeoutMs: number, { what, trouble }: WaitContext): QueueLockError {
  const cause = causeIn(trouble?.());
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

function causeIn(trouble: unknown): unknown {
  return trouble === UNANSWERED
    ? new QueueLockError('UNAVAILABLE', 'the store has not responded yet')
    : trouble;
}
