import { isDefinite } from '../kit/definite.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import type { QueueState } from '../api/queue-api.ts';
import { tap, type MonoTypeOperatorFunction } from '../base/rx.ts';

/** The states of a queue; errors when it cannot be seen and will not be: nothing of what is asked can be done then. */
export function visible(asked: string): MonoTypeOperatorFunction<QueueState> {
  return tap(({ name, error }) => {
    if (!isDefinite(error)) return;
    throw new QueueLockError(
      isQueueLockError(error) ? error.code : 'INVALID_ARGUMENT',
      `${JSON.stringify(name)}: ${asked} needs to see the queue, which cannot be seen: ${detailOf(error)}`,
      { cause: error },
    );
  });
}
