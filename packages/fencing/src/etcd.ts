import { invalidArgument } from '@queuelock/core/backend';
import { checkToken, MAX_INT64, type Hold } from './hold.ts';

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
 * For `compare` of a transaction in etcd's raw API: true as long as the hold's own entry is in the queue. The entry leaves
 * it before the next contender holds, and both are ordered with the transaction by Raft; so what stands under `success`
 * happens under the lock or not at all.
 *
 * It compares the create revision, which is the token: neither a later entry under the same key nor a change of its
 * value counts as the hold. Only for holds on the cluster that the transaction goes to.
 */
export function etcdCompare(hold: Pick<Hold, 'key' | 'token'>): EtcdCompare {
  return {
    target: 1,
    result: 0,
    key: Buffer.from(checkKey(hold.key)),
    create_revision: String(checkToken(hold.token, MAX_INT64)),
  };
}

/**
 * The same for the builder of npm `etcd3`: `client.if(...heldInEtcd(ownership)).then(client.put(key).value(data)).commit()`.
 * `succeeded` false: it is not held any more, and nothing was written. Use a client without `namespace()`, which would
 * look for the entry somewhere else and so refuse everything.
 */
export function heldInEtcd(
  hold: Pick<Hold, 'key' | 'token'>,
): [key: string, column: 'Create', comparison: '==', revision: string] {
  return [checkKey(hold.key), 'Create', '==', String(checkToken(hold.token, MAX_INT64))];
}

function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw invalidArgument('key', key, 'is the key of the entry, as in ownership.key');
}
