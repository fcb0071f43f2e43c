import type { StoreName } from './profiles.ts';
import { etcdWire } from './wire-etcd.ts';
import { zooKeeperWire } from './wire-zookeeper.ts';
import type { Wire } from './wire-protocol.ts';

export function wireOf(store: StoreName): Wire {
  return store === 'etcd' ? etcdWire : zooKeeperWire;
}
