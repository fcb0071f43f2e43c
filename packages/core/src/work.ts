import type { Hold } from './hold-api.ts';
import { QueueLockError, isQueueLockError } from './errors.ts';

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/** Runs `work` under an ownership and releases it afterwards. A loss outweighs whatever `work` came to. */
export async function workUnder<H extends Hold, T>(
  ownership: H,
  { what, work }: { readonly what: string; readonly work: (ownership: H) => T | PromiseLike<T> },
): Promise<Awaited<T>> {
  const outcome = await outcomeOf(() => work(ownership));
  // Whoever holds has lost nothing, and needs no signal to be told so.
  const reason: unknown = ownership.held ? undefined : ownership.signal.reason;
  await ownership.release();
  throwIfLost(reason, what, outcome);
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

async function outcomeOf<T>(work: () => T | PromiseLike<T>): Promise<Outcome<Awaited<T>>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

function throwIfLost(loss: unknown, what: string, outcome: Outcome<unknown>): void {
  const error = 'error' in outcome ? outcome.error : undefined;
  if (!isQueueLockError(loss, 'OWNERSHIP_LOST') || error === loss) return;
  throw new QueueLockError('OWNERSHIP_LOST', `${what} was lost while the work ran`, {
    cause: error ?? loss,
    ...(loss.reason ? { reason: loss.reason } : {}),
    ...(loss.eviction ? { eviction: loss.eviction } : {}),
  });
}
