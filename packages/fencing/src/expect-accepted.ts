import { checkedObject, invalidArgument, QueueLockError } from '@queuelock/core/backend';

/** The outcome of a write that any function of this package has guarded with a fencing token. */
export type AnyFenceOutcome =
  | { readonly outcome: 'accepted' }
  | {
      readonly outcome: 'refused' | 'missing' | 'repeated' | 'malformed';
      readonly reason: string;
    };

/**
 * Resolves with the outcome if the write was accepted, and rejects otherwise. Use it for every fenced write
 * whose outcome is not handled in another way. The message of the error names the lock, the token, and what
 * refused the write. Its `cause` is the outcome.
 * @throws {QueueLockError} `OWNERSHIP_LOST` when a later holder has already written. The error has no
 *   `reason`, since a comparison of tokens does not show how the ownership ended.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the row to write does not exist, or the headers of a
 *   request are missing or malformed. Also when `once` is set and the hold has already had its effect.
 *
 * A rejection of the write itself is passed on. The outcome of that write is unknown.
 */
export async function expectAccepted<A extends AnyFenceOutcome>(
  outcome: A | PromiseLike<A>,
): Promise<Extract<A, { readonly outcome: 'accepted' }>> {
  const checked: AnyFenceOutcome = checkedObject('outcome of a fence', await outcome);
  switch (checked.outcome) {
    case 'accepted':
      return checked as Extract<A, { readonly outcome: 'accepted' }>;
    case 'refused':
      throw new QueueLockError('OWNERSHIP_LOST', checked.reason, { cause: checked });
    case 'missing':
    case 'repeated':
    case 'malformed':
      throw new QueueLockError('INVALID_ARGUMENT', checked.reason, { cause: checked });
    default:
      // Rejects a value that is no outcome, such as the boolean of `isAccepted(...)`. Plain JavaScript can
      // pass anything.
      throw invalidArgument('outcome of a fence', checked, 'has an outcome');
  }
}
