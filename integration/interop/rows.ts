// The combinations of lock libraries that contend in one queue, for the test suite and for `pnpm interop`.

import { etcd } from './rows-etcd.ts';
import { zooKeeper } from './rows-zookeeper.ts';
import type { Mix, Rows } from './row.ts';

/** All combinations of lock libraries that contend in one queue, by the name of the store. */
export const rows: Readonly<Record<string, Rows>> = { etcd, ZooKeeper: zooKeeper };

/**
 * Returns the names of the queues in which the participants contend. There is one, or for a semaphore two:
 * first its queue of waiters, then its queue of holders.
 */
export function queuesOf(name: string, { permits }: Pick<Mix, 'permits'>): [string, string] | [string] {
  return permits === undefined ? [name] : [`${name}/locks`, `${name}/leases`];
}
