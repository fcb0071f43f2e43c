import { isQueueLockError, type AcquireOptions, type LockClient } from '@queuelock/core';
import type { Ownership, SharedOwnership } from '@queuelock/core';
import type { Held } from './held.ts';

/** Acquires a hold again, in the resumed session of the process that held before. */
export async function resumeHold(
  client: LockClient,
  { queue, shared, isDowngrading, limit, permits }: Held,
  options: AcquireOptions,
): Promise<Ownership | SharedOwnership> {
  const permitted = limit > 1 ? { ...options, limit, permits } : options;
  if (!shared) return client.acquire(queue, permitted);
  try {
    return await client.acquire(queue, { ...permitted, mode: 'shared' });
  } catch (error) {
    if (!isDowngrading || !isQueueLockError(error, 'INVALID_ARGUMENT')) throw error;
    // `INVALID_ARGUMENT` shows that the entry is still exclusive: the process crashed before its downgrade
    // took effect. So the client acquires an exclusive lock.
    return client.acquire(queue, permitted);
  }
}
