import { invalidArgument } from '@queuelock/core/backend';
import { markDirectory, queuePrefix, readKey } from '../queue/keys.ts';
import { deleteSingleKey, singleKeyFor } from './single-key.ts';
import { createdAt, remove } from '../queue/txn.ts';
import type { SingleKeyOf } from '../api/naming.ts';
import type { Connection } from '../server/connection.ts';

/**
 * The entry to evict. `order` is the create revision of its key, so that a later entry with the same key is
 * not evicted.
 */
export interface Evictee {
  readonly queue: string;
  readonly key: string;
  readonly order: bigint;
}

/** What an eviction needs: the connection to the store, and the options that determine the keys of queues. */
export interface QueueAccess {
  readonly connection: Connection;
  readonly prefix: string;
  readonly singleKeyOf?: SingleKeyOf | undefined;
}

/**
 * Removes the entry of any client, with its mark and its single key. The trace of its hold stays, since the holder may not know of the
 * removal yet. Resolves with `false` if the entry does not exist, as after a lost response.
 */
export async function evict(
  { connection, prefix, singleKeyOf }: QueueAccess,
  { queue, key, order }: Evictee,
): Promise<boolean> {
  const under = queuePrefix(prefix, queue);
  const entry = key.startsWith(under) ? readKey(under, Buffer.from(key)) : undefined;
  if (!entry) throw invalidArgument('entry.key', key, `is directly under ${JSON.stringify(under)}`);
  // No entry has the order number 0. In etcd, a missing key has the create revision 0, so the transaction would succeed without an entry.
  if (order <= 0n) return false;
  const stored = Buffer.from(key);
  const mark = Buffer.from(markDirectory(prefix, queue) + entry.name);
  const single = singleKeyFor(singleKeyOf, { prefix, queue });
  const success = [remove(stored), remove(mark), ...deleteSingleKey(single, stored)];
  const txn = { compare: [createdAt(stored, order)], success };
  const { succeeded } = await connection.ask('removing an entry', (etcd, options) => etcd.txn(txn, options));
  return succeeded;
}
