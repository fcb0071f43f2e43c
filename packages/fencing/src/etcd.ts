import { invalidArgument } from '@queuelock/core/backend';
import { MAX_INT64, nameOf, tokenOf, type FencingHold } from './hold.ts';
import type { FenceOutcome } from './outcome.ts';

/**
 * A `Compare` of etcd's raw API (`etcdserverpb.Compare`): enumerations as their numbers, since clients differ in the names (and
 * take one that they do not know for 0, another comparison), 64-bit numbers as text.
 */
export interface EtcdCompare {
  /** `CREATE` */
  readonly target: 1;
  /** `EQUAL` */
  readonly result: 0;
  readonly key: Buffer;
  readonly create_revision: string;
}

/**
 * For `compare` of a transaction in etcd's raw API: true as long as the hold's own entry is in the queue. Reading the entry's key, which this
 * does, makes sure that the entry leaves the queue before the next contender holds, and Raft orders both with the transaction. So what
 * stands under `success` happens under the lock or not at all, and never after a guarded write of a later holder.
 * Call it while the lock is held: for a hold that was released before its key was read, it throws `OWNERSHIP_LOST` if the next one holds already.
 *
 * It compares the create revision, which is the token: neither a later entry under the same key nor a change of its
 * value counts as the hold. Only for holds on the cluster that the transaction goes to.
 */
export function etcdCompare(hold: FencingHold<'key' | 'token'>): EtcdCompare {
  const revision = String(tokenOf(hold, MAX_INT64));
  return { target: 1, result: 0, key: Buffer.from(checkKey(hold.key)), create_revision: revision };
}

/**
 * The same for the builder of npm `etcd3`: `client.if(...heldInEtcd(ownership)).then(client.put(key).value(data)).commit()`.
 * `succeeded` false: it is not held any more, and nothing was written; {@link etcdAnswer} makes that hard to overlook. Use a client without `namespace()`, which would
 * look for the entry somewhere else and so refuse everything.
 */
export function heldInEtcd(
  hold: FencingHold<'key' | 'token'>,
): [key: string, column: 'Create', comparison: '==', revision: string] {
  const revision = String(tokenOf(hold, MAX_INT64));
  return [checkKey(hold.key), 'Create', '==', revision];
}

/**
 * What the transaction with that compare answered, for `expectAccepted`. etcd tells that the entry is gone, not who came next; give it
 * transactions without further compares only, since it cannot tell which of several failed.
 */
export async function etcdAnswer(
  hold: FencingHold<'key' | 'token'>,
  answer: { readonly succeeded: boolean } | PromiseLike<{ readonly succeeded: boolean }>,
): Promise<FenceOutcome> {
  const { succeeded } = await answer;
  if (typeof succeeded !== 'boolean') {
    throw invalidArgument('answer', succeeded, 'is that of a transaction, with succeeded');
  }
  if (succeeded) return { outcome: 'accepted' };
  return {
    outcome: 'refused',
    reason: `${nameOf(hold)} is refused by etcd: its entry ${JSON.stringify(hold.key)} is not in the queue any more`,
  };
}

function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw invalidArgument('key', key, 'is the key of the entry, as in ownership.key');
}
