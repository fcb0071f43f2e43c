// Combinations of participants in one queue: the tables for the tests and the long run.

import { etcd } from './rows-etcd.ts';
import { zooKeeper } from './rows-zookeeper.ts';
import type { Mix, Rows } from './row.ts';

/** Tables by the store's name. */
export const rows: Readonly<Record<string, Rows>> = { etcd, ZooKeeper: zooKeeper };

/** Returns the queues of a name, that for waiters first. */
export function queuesOf(name: string, { permits }: Pick<Mix, 'permits'>): [string, string] | [string] {
  return permits === undefined ? [name] : [`${name}/locks`, `${name}/leases`];
}
