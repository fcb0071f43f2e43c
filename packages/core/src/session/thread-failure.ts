import { QueueLockError } from '../api/errors.ts';

/** Returns the error for a heartbeat thread that failed, or did not start. */
export function threadFailure(detail: string): QueueLockError {
  const message = `the heartbeat thread (option maxBlockedMs) failed: ${detail}; heartbeats of the main thread continue`;
  return new QueueLockError('UNAVAILABLE', message);
}
