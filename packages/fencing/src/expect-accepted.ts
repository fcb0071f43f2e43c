import { checkedObject, invalidArgument, QueueLockError } from '@queuelock/core/backend';

/** What any of the fences may answer. */
export type FenceAnswer =
  | { readonly outcome: 'accepted' }
  | {
      readonly outcome: 'refused' | 'missing' | 'unregistered' | 'repeated' | 'malformed';
      readonly reason: string;
    };

/**
 * For every fenced write whose answer nobody looks at otherwise: resolves with the answer if it was accepted. The message of the
 * error says which name, which token, and what refused it; its `cause` is the answer.
 * @throws {QueueLockError} `OWNERSHIP_LOST` when a later holder was there (without `reason`: the fence does not know how it came to that); `INVALID_ARGUMENT` when there is nothing to write to, the name
 * is not registered, the hold has had its one effect, or a request says nothing or something wrong about its hold. What the write itself
 * rejects with leaves its outcome open.
 */
export async function expectAccepted<A extends FenceAnswer>(
  answer: A | PromiseLike<A>,
): Promise<Extract<A, { readonly outcome: 'accepted' }>> {
  const answered: FenceAnswer = checkedObject('answer of a fence', await answer);
  switch (answered.outcome) {
    case 'accepted':
      return answered as Extract<A, { readonly outcome: 'accepted' }>;
    case 'refused':
      throw new QueueLockError('OWNERSHIP_LOST', answered.reason, { cause: answered });
    case 'missing':
    case 'unregistered':
    case 'repeated':
    case 'malformed':
      throw new QueueLockError('INVALID_ARGUMENT', answered.reason, { cause: answered });
    default:
      // As plain JavaScript passes it, `isAccepted(...)` for instance.
      throw invalidArgument('answer of a fence', answered, 'has an outcome');
  }
}
