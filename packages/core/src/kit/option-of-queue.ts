import { QueueLockError, detailOf } from '../api/errors.ts';
import { boundToCaller } from '../base/caller-context.ts';

/**
 * Wraps an option of the user that is a function of a queue's name. The wrapped function runs in the asynchronous context of this call.
 * Its exceptions become definite errors. Otherwise an acquisition would treat them as unknown outcomes and retry forever.
 * @param option the name of the option, for messages
 * @throws {QueueLockError} the returned function: `INVALID_ARGUMENT` with the exception as `cause`
 */
export function optionOfQueue<T>(option: string, call: (queue: string) => T): (queue: string) => T {
  const bound = boundToCaller(call);
  return (queue) => {
    try {
      return bound(queue);
    } catch (cause) {
      const what = `${option}(${JSON.stringify(queue)})`;
      throw new QueueLockError(
        'INVALID_ARGUMENT',
        `${what} throws no exception; it threw ${detailOf(cause)}`,
        {
          cause,
        },
      );
    }
  };
}
