// The combinations of participants in one queue, for the tests and for the long run.

import { etcd } from './rows-etcd.ts';
import { zooKeeper } from './rows-zookeeper.ts';
import type { Mix, Rows } from './row.ts';

/** Tables of combinations, by the name of the store. */
export const rows: Readonly<Record<string, Rows>> = { etcd, ZooKeeper: zooKeeper };

/**
 * Returns the names of the queues that a mix of participants uses. There is one, or for a semaphore two:
 * first its queue of waiters, then that of holders.
 */
export function queuesOf(name: string, { permits }: Pick<Mix, 'permits'>): [string, string] | [string] {
  return permits === undefined ? [name] : [`${name}/locks`, `${name}/leases`];
}
