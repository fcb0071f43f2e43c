import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { QueueLockError } from './errors.ts';
import { Observable } from './rx.ts';

/** What may end a wait. */
export interface WaitLimit {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Errors with the signal's reason when it aborts, with `TIMEOUT` when the time is over. Emits nothing. */
export function waitLimit({ signal, timeoutMs }: WaitLimit, clock: Clock): Observable<never> {
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
          subscriber.error(
            new QueueLockError('TIMEOUT', `the turn did not come within ${String(timeoutMs)} ms`),
          );
        }),
      );
    }
  });
}
