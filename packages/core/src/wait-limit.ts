import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { QueueLockError, detailOf } from './errors.ts';
import { Observable } from './rx.ts';

/** What may end a wait. */
export interface WaitLimit {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
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
    if (timeoutMs !== undefined && timeoutMs > 0 && timeoutMs !== Infinity) {
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
