import { isQueueLockError, type AcquireMessage } from '@queuelock/core';

/**
 * What an acquisition came to. `busy`: a try found the lock taken. `timeout`: the turn did not come in time. `aborted`: its caller gave it up, by a
 * signal or by unsubscribing. `failed`: any other error, an outage among them.
 */
export type Outcome = 'held' | 'busy' | 'timeout' | 'aborted' | 'failed';

/** By what its caller was told. */
export function outcomeOf({ outcome, isTry, error }: AcquireMessage): Outcome {
  if (outcome === 'held') return 'held';
  if (outcome === 'left' || !isQueueLockError(error)) return 'aborted';
  if (error.code !== 'TIMEOUT') return 'failed';
  return isTry ? 'busy' : 'timeout';
}
