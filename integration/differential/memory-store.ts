import type { Backend } from '@queuelock/core';
import type { MemoryServer } from '@queuelock/memory';
import type { Store } from './store.ts';

/** Returns a server in this process as a store. */
export function memoryStore(server: MemoryServer, connect: () => Backend): Store {
  return {
    name: 'memory',
    ttlMs: 30_000,
    connect,
    removeEntry: async (_queue, { key }) => void server.evict(key),
    endSession: async (id) => void server.expireSession(id),
    stop: async () => server.close(),
  };
}
