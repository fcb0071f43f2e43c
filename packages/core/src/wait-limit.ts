import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { QueueLockError, detailOf } from './errors.ts';
import { Observable, identity, merge, takeUntil, type MonoTypeOperatorFunction } from './rx.ts';

/** What may end a wait. */
export interface WaitLimit {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** What a limited wait knows of its surroundings. */
interface Waiting {
  readonly clock: Clock;
  /** Emits when the wait is over. */
  readonly granted$: Observable<unknown>;
  /** What went wrong last, if that is why the wait goes on. */
  readonly trouble: () => unknown;
}

/** Ends a story as `waitLimit` does, unless it has been granted. One without a limit passes as it is. */
export function limitedBy<T>(limit: WaitLimit, waiting: Waiting): MonoTypeOperatorFunction<T> {
  if (!limit.signal && !isLimit(limit.timeoutMs)) return identity;
  const { clock, granted$, trouble } = waiting;
  return (story$) => merge(waitLimit(limit, clock, trouble).pipe(takeUntil(granted$)), story$);
}

function isLimit(timeoutMs: number | undefined): timeoutMs is number {
  return timeoutMs !== undefined && timeoutMs > 0 && timeoutMs !== Infinity;
}

/**
 * Errors with the signal's reason when it aborts, with `TIMEOUT` when the time is over. Emits nothing.
 * @param trouble what went wrong last, if that is why the wait goes on
 */
export function waitLimit(
  { signal, timeoutMs }: WaitLimit,
  clock: Clock,
  trouble: () => unknown,
): Observable<never> {
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
        clock.after(timeoutMs, () => {
          subscriber.error(timedOut(timeoutMs, trouble()));
        }),
      );
    }
  });
}

function timedOut(timeoutMs: number, cause: unknown): QueueLockError {
  const late = `the turn did not come within ${String(timeoutMs)} ms`;
  if (cause === undefined) return new QueueLockError('TIMEOUT', late);
  return new QueueLockError('TIMEOUT', `${late}, there is no place in the queue yet: ${detailOf(cause)}`, {
    cause,
  });
}
