import type { Backend } from '@queuelock/core';
import type { MemoryServer } from '@queuelock/memory';
import type { Store } from './store.ts';

/** Returns the store for scripts that consists of a memory server in this process. */
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
