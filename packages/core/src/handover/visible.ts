import { isDefinite } from '../kit/definite.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import type { QueueState } from '../api/queue-api.ts';
import { tap, type MonoTypeOperatorFunction } from '../base/rx.ts';

/**
 * Passes on the states of a queue. Errors if the store refuses to let the client read the queue. `requested` is the name of the option that needs
 * these states, for the error message.
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
