import { checkedObject, invalidArgument } from '@queuelock/core/backend';
import { MAX_INT64, describeHold, tokenOf, type FencingHold } from './hold.ts';
import type { FenceOutcome } from './outcome.ts';

/** An operation of a transaction of Consul (`PUT /v1/txn`). */
export interface ConsulOperation {
  readonly KV: { readonly Verb: 'get'; readonly Key: string };
}

/** The response to a transaction of Consul, as JSON. */
export interface ConsulTxnResponse {
  readonly Errors: readonly { readonly OpIndex: number; readonly What: string }[] | null;
}

/**
 * Returns an operation for a transaction of Consul that checks the hold. Once the hold's own entry has left
 * its queue, the whole transaction fails. Raft orders the transaction and the removal of the entry. So the
 * writes in the transaction happen under the lock or not at all, and never after a fenced write of a later
 * holder. Use it on the cluster and data center that has the lock.
 *
 * The operation reads the key and does not compare an index. The key of an entry is never used again, so the
 * hold lasts as long as the key exists. The index of the key (`check-index`) would also change with the
 * entry's label.
 * @param hold an exclusive hold; its token is checked, its key is read
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the hold is not exclusive; `OWNERSHIP_LOST` when reading
 * `ownership.key` throws it
 */
export function heldInConsul(hold: FencingHold<'key' | 'token'>): ConsulOperation {
  tokenOf(hold, MAX_INT64);
  return { KV: { Verb: 'get', Key: checkKey(hold.key) } };
}

/**
 * Converts the response to a transaction with the operation of `heldInConsul` into an outcome for
 * `expectAccepted`.
 * @param hold the hold that was passed to `heldInConsul`
 * @param response the JSON of the response, with the status 200 or 409
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the response is not that of a transaction, or when an
 * operation of the caller has failed
 */
export async function consulOutcome(
  hold: FencingHold<'key' | 'token'>,
  response: ConsulTxnResponse | PromiseLike<ConsulTxnResponse>,
): Promise<FenceOutcome> {
  const { Errors }: { readonly Errors?: unknown } = checkedObject('response', await response);
  if (Errors === null || (Array.isArray(Errors) && Errors.length === 0)) return { outcome: 'accepted' };
  const what = whatIn(Errors);
  if (what !== `key "${hold.key}" doesn't exist`)
    throw invalidArgument(
      'response',
      what,
      'is the response of a transaction in which only the check of the hold may fail',
    );
  return {
    outcome: 'refused',
    reason: `${describeHold(hold)} is refused by Consul: its entry ${JSON.stringify(hold.key)} is no longer in the queue`,
  };
}

function whatIn(errors: unknown): unknown {
  const error: unknown = Array.isArray(errors) ? errors[0] : undefined;
  return typeof error === 'object' && error !== null && 'What' in error ? error.What : errors;
}

function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw invalidArgument('key', key, 'is the key of the entry, as in ownership.key');
}
