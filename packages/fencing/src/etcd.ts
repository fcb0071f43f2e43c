import { invalidArgument } from '@queuelock/core/backend';
import { MAX_INT64, describeHold, tokenOf, type FencingHold } from './hold.ts';
import type { FenceOutcome } from './outcome.ts';

/**
 * A `Compare` of etcd's raw API (`etcdserverpb.Compare`). Enumerations are given as numbers, because clients
 * name their values differently. A client that does not know a name would send 0 in its place, which is
 * another comparison. 64-bit numbers are given as text.
 */
export interface EtcdCompare {
  /** The number of the comparison target `CREATE` in etcd's API. */
  readonly target: 1;
  /** The number of the comparison result `EQUAL` in etcd's API. */
  readonly result: 0;
  readonly key: Buffer;
  readonly create_revision: string;
}

/**
 * Returns a comparison for the `compare` of a transaction in etcd's raw API. It is true as long as the entry of the hold is in the queue.
 * Reading the entry's key, as this function does, guarantees that the entry leaves the queue before the next contender holds. Raft orders
 * the removal and the transaction. So the operations under `success` happen under the lock or not at all, and never after a guarded write
 * of a later holder.
 *
 * Call it while the lock is held. For a hold that was released before its key was read, it throws `OWNERSHIP_LOST` if the next contender
 * already holds.
 *
 * The comparison is on the create revision, which is the token. A later entry under the same key does not count as the hold, and a change
 * of the value does not end it. Use it only for holds on the cluster that the transaction is sent to.
 */
export function etcdCompare(hold: FencingHold<'key' | 'token'>): EtcdCompare {
  const revision = String(tokenOf(hold, MAX_INT64));
  return { target: 1, result: 0, key: Buffer.from(checkKey(hold.key)), create_revision: revision };
}

/**
 * Returns the comparison of {@link etcdCompare} as arguments for the builder of npm `etcd3`:
 * `client.if(...heldInEtcd(ownership)).then(client.put(key).value(data)).commit()`.
 *
 * If `succeeded` is false, the lock is not held any more and nothing was written; {@link etcdOutcome} turns that into an error that is hard to
 * overlook. Use a client without `namespace()`: with a namespace, such a client reads the entry under another key and refuses every write.
 */
export function heldInEtcd(
  hold: FencingHold<'key' | 'token'>,
): [key: string, column: 'Create', comparison: '==', revision: string] {
  const revision = String(tokenOf(hold, MAX_INT64));
  return [checkKey(hold.key), 'Create', '==', revision];
}

/**
 * Converts the result of a transaction with the comparison of {@link etcdCompare} or {@link heldInEtcd} into
 * an outcome for `expectAccepted`. etcd reports that the entry is gone, but not which client holds now. Use
 * it only for transactions without further comparisons: etcd does not report which of several comparisons
 * failed.
 */
export async function etcdOutcome(
  hold: FencingHold<'key' | 'token'>,
  response: { readonly succeeded: boolean } | PromiseLike<{ readonly succeeded: boolean }>,
): Promise<FenceOutcome> {
  const { succeeded } = await response;
  if (typeof succeeded !== 'boolean') {
    throw invalidArgument('response.succeeded', succeeded, 'is a boolean, as in that of a transaction');
  }
  if (succeeded) return { outcome: 'accepted' };
  return {
    outcome: 'refused',
    reason: `${describeHold(hold)} is refused by etcd: its entry ${JSON.stringify(hold.key)} is no longer in the queue`,
  };
}

function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw invalidArgument('key', key, 'is the key of the entry, as in ownership.key');
}
