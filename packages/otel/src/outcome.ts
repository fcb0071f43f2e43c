import { isQueueLockError, type AcquireMessage } from '@queuelock/core';

/**
 * Outcome of an acquisition. `busy`: a `tryAcquire` found the lock taken. `timeout`: the lock was not granted in time. `aborted`: the
 * caller gave up, by a signal or by unsubscribing. `failed`: any other error, including an outage.
 */
export type Outcome = 'held' | 'busy' | 'timeout' | 'aborted' | 'failed';

/**
 * Returns the outcome of an acquisition from the message of the lock client's diagnostics channel that
 * announces its end.
 */
export function outcomeOf({ outcome, isTry, error }: AcquireMessage): Outcome {
  if (outcome === 'held') return 'held';
  if (outcome === 'left' || !isQueueLockError(error)) return 'aborted';
  if (error.code !== 'TIMEOUT') return 'failed';
  return isTry ? 'busy' : 'timeout';
}
