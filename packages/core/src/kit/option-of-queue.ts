import { QueueLockError, detailOf } from '../api/errors.ts';
import { boundToCaller } from '../base/caller-context.ts';

/**
 * Returns a function of the options that computes something from a queue's name. It runs in the present context. Its exception is a definite
 * error: as an unknown outcome, the acquisition would repeat it for ever.
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
