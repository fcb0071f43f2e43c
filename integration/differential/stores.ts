import { createMemoryServer, memory } from '@queuelock/memory';
import { memoryStore } from './memory-store.ts';
import type { Store } from './store.ts';
import { startConsulStore, startEtcdStore, startZooKeeperStore } from './stores-native.ts';
import { startMariaDbStore, startPostgresStore, startRedisStore, startSqliteStore } from './stores-sql.ts';

/**
 * For each kind of store, a function that starts it on a server that no other test uses. The function rejects
 * with `NotHere` if the server is not installed.
 */
const STORES = {
  memory: async () => {
    const server = createMemoryServer();
    return memoryStore(server, () => memory({ server }));
  },
  redis: startRedisStore,
  postgres: startPostgresStore,
  mariadb: startMariaDbStore,
  sqlite: startSqliteStore,
  consul: startConsulStore,
  etcd: startEtcdStore,
  zookeeper: startZooKeeperStore,
} satisfies Readonly<Record<string, () => Promise<Store>>>;

export type StoreName = keyof typeof STORES;

export const STORE_NAMES = Object.keys(STORES) as readonly StoreName[];

export function startStore(name: StoreName): Promise<Store> {
  return STORES[name]();
}
