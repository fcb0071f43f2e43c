import { isDefinite } from '../kit/definite.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import type { QueueState } from '../api/queue-api.ts';
import { tap, type MonoTypeOperatorFunction } from '../base/rx.ts';

/**
 * Passes on the states of a queue. Errors if the store refuses to let the client read the queue, because the option that `requested` names needs
 * these states.
 */
export function visible(requested: string): MonoTypeOperatorFunction<QueueState> {
  return tap(({ name, error }) => {
    if (!isDefinite(error)) return;
    throw new QueueLockError(
      isQueueLockError(error) ? error.code : 'INVALID_ARGUMENT',
      `${JSON.stringify(name)}: ${requested} needs to read the queue, which cannot be read: ${detailOf(error)}`,
      { cause: error },
    );
  });
}
