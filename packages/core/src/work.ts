import type { Ownership } from './api.ts';
import { QueueLockError, isQueueLockError } from './errors.ts';

/** Runs `work` under an ownership and releases it afterwards. A loss outweighs whatever `work` came to. */
export async function workUnder<T>(
  ownership: Ownership,
  work: (ownership: Ownership) => T | PromiseLike<T>,
): Promise<Awaited<T>> {
  try {
    const result = await work(ownership);
    throwIfLost(ownership);
    return result;
  } catch (error) {
    throwIfLost(ownership, error);
    throw error;
  } finally {
    await ownership.release();
  }
}

function throwIfLost({ signal, name }: Ownership, cause?: unknown): void {
  const { reason } = signal as { readonly reason: unknown };
  if (!isQueueLockError(reason, 'OWNERSHIP_LOST') || cause === reason) return;
  throw new QueueLockError('OWNERSHIP_LOST', `the lock ${JSON.stringify(name)} was lost while the work ran`, {
    cause: cause ?? reason,
    ...(reason.reason ? { reason: reason.reason } : {}),
  });
}
