import type { Hold } from './hold-api.ts';
import { QueueLockError, isQueueLockError } from './errors.ts';

/** Runs `work` under an ownership and releases it afterwards. A loss outweighs whatever `work` came to. */
export async function workUnder<H extends Hold, T>(
  ownership: H,
  { what, work }: { readonly what: string; readonly work: (ownership: H) => T | PromiseLike<T> },
): Promise<Awaited<T>> {
  try {
    const result = await work(ownership);
    throwIfLost(ownership, what);
    return result;
  } catch (error) {
    throwIfLost(ownership, what, error);
    throw error;
  } finally {
    await ownership.release();
  }
}

function throwIfLost({ signal }: Hold, what: string, cause?: unknown): void {
  const { reason } = signal as { readonly reason: unknown };
  if (!isQueueLockError(reason, 'OWNERSHIP_LOST') || cause === reason) return;
  throw new QueueLockError('OWNERSHIP_LOST', `${what} was lost while the work ran`, {
    cause: cause ?? reason,
    ...(reason.reason ? { reason: reason.reason } : {}),
    ...(reason.eviction ? { eviction: reason.eviction } : {}),
  });
}
