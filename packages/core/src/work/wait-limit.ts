// Chapter work: what ends a wait, and what tells a work to stop?
// A signal or the time ends a wait (here); work tells the work under a hold; closing and works are the end of the client.

import { setMaxListeners } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { QueueLockError, detailOf } from '../api/errors.ts';
import type { Moment } from '../base/moment.ts';
import { Observable, identity, merge, takeUntil, type MonoTypeOperatorFunction } from '../base/rx.ts';

/** In place of what went wrong: the store was asked, nothing has failed yet, and nothing is known. */
export const UNANSWERED: unique symbol = Symbol('unanswered');

/** What may end a wait. */
export interface WaitLimit {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** What a limited wait knows of its surroundings. */
export interface WaitContext {
  readonly clock: Clock;
  /** What is waited for, as it is to be called. */
  readonly what: string;
  /** What went wrong last, if that is why the wait goes on, or `UNANSWERED`. Default: nothing. */
  readonly trouble?: () => unknown;
}

interface Waiting extends WaitContext {
  /** When the wait is over. */
  readonly granted: Moment;
}

/** Ends a story as `waitLimit` does, unless it has been granted. One without a limit passes as it is. */
export function limitedBy<T>(limit: WaitLimit, waiting: Waiting): MonoTypeOperatorFunction<T> {
  if (!limit.signal && !isLimit(limit.timeoutMs)) return identity;
  const granted$ = waiting.granted.come$;
  return (story$) => merge(waitLimit(limit, waiting).pipe(takeUntil(granted$)), story$);
}

function isLimit(timeoutMs: number | undefined): timeoutMs is number {
  return timeoutMs !== undefined && timeoutMs > 0 && timeoutMs !== Infinity;
}

/** Errors with the signal's reason when it aborts, with `TIMEOUT` when the time is over, or `UNAVAILABLE` if there was trouble at the end. Emits nothing. */
export function waitLimit({ signal, timeoutMs }: WaitLimit, context: WaitContext): Observable<never> {
  return new Observable((subscriber) => {
    if (signal) {
      const abort = (): void => {
        subscriber.error(signal.reason);
      };
      if (signal.aborted) {
        abort();
        return;
      }
      // One signal may end many waits; Node would take the eleventh listener for a leak.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', abort);
      subscriber.add(() => {
        signal.removeEventListener('abort', abort);
      });
    }
    if (isLimit(timeoutMs)) {
      subscriber.add(
        context.clock.after(timeoutMs, () => {
          subscriber.error(timedOut(timeoutMs, context));
        }),
      );
    }
  });
}

/** Who cannot reach the store does not know that anybody holds the lock: that is no `TIMEOUT`, which a caller takes for busy. */
function timedOut(timeoutMs: number, { what, trouble }: WaitContext): QueueLockError {
  const cause = causeIn(trouble?.());
  const late = `${what}: the turn did not come within ${String(Math.round(timeoutMs))} ms (timeoutMs)`;
  if (cause === undefined) return new QueueLockError('TIMEOUT', `${late}: others hold it or stand ahead`);
  return new QueueLockError(
    'UNAVAILABLE',
    `${late}, and whose turn it is was not known: ${detailOf(cause)}`,
    {
      cause,
    },
  );
}

function causeIn(trouble: unknown): unknown {
  return trouble === UNANSWERED
    ? new QueueLockError('UNAVAILABLE', 'the store has not answered yet')
    : trouble;
}
