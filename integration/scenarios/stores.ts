import { etcdStore } from './etcd-store.ts';
import { zooKeeperStore } from './zookeeper-store.ts';
import type { Store } from './store.ts';

export const stores: readonly Store[] = [etcdStore, zooKeeperStore];
