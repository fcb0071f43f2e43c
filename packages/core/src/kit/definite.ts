// Folder "kit": contains tools for backends of any store.
// definite.ts (this file) decides whether an outcome is known, and repeats calls until it is. Other files parse URLs and PEM files, compare
// an existing entry with a requested one, and count departures.

import { ExponentialBackoff, handleWhen, retry } from 'cockatiel';
import { isQueueLockError, type QueueLockErrorCode } from '../api/errors.ts';
import { Stop } from '../base/stop.ts';

const DEFINITE: ReadonlySet<QueueLockErrorCode> = new Set([
  'SESSION_LOST',
  'ENTRY_LOST',
  'ACCESS_DENIED',
  'INVALID_ARGUMENT',
  'CLOSED',
  'FOREIGN_FORMAT',
]);

/** Returns whether an error of a backend proves that the call had no effect, and that a repetition would not help. */
export function isDefinite(error: unknown): boolean {
  return isQueueLockError(error) && DEFINITE.has(error.code);
}

const untilDefinite = retry(
  handleWhen((error) => !isDefinite(error)),
  {
    maxAttempts: Number.MAX_SAFE_INTEGER,
    backoff: new ExponentialBackoff({ initialDelay: 50, maxDelay: 1_000 }),
  },
);

/**
 * Repeats an idempotent call while its outcome is unknown, with growing delays of at most 1 s between attempts. Rejects with the definite error.
 * After an abort, it rejects with the reason of the abort at the end of the current delay.
 * @param stop aborts the repetition. A `Stop` creates its signal only if the first attempt fails
 */
export async function repeatUntilDefinite<T>(call: () => Promise<T>, stop: AbortSignal | Stop): Promise<T> {
  stop.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    return repeatAfter(error, call, stop instanceof Stop ? stop.signal : stop);
  }
}

/**
 * Continues like `repeatUntilDefinite` after a first attempt that has failed. The retry policy costs several times as much as a call that succeeds at
 * once, so it runs only after a failure.
 */
export async function repeatAfter<T>(
  failure: unknown,
  call: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (isDefinite(failure)) throw failure;
  return untilDefinite.execute(async ({ attempt }) => {
    if (attempt === 0) throw failure;
    // The retry policy would make one more attempt after an abort during its delay, so the signal is checked
    // here.
    signal.throwIfAborted();
    return call();
  }, signal);
}
