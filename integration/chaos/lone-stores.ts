import { firstValueFrom } from 'rxjs';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { startConsul, startRedis } from '@queuelock/harness/services';
import { mariaDbAccess, startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { shareService } from '@queuelock/harness/services/shared';
import { CONSUL_OF_MANY_CLIENTS } from './consul-settings.ts';
import type { LeftOver } from './leftovers.ts';

/** A store with a single server. */
interface LoneStore {
  /**
   * Returns the store's server, which all test files of this process share. Rejects with `NotHere` if the
   * server is not available.
   */
  readonly server: (what: string) => Promise<ProcessService>;
  /** Returns the URL of the backend for the address of a server or of a proxy in front of it. */
  url(endpoint: string): string;
  /** How much later than its TTL a session may end, as a fraction of the TTL. Default: 0. */
  readonly lateBy?: number;
}

export type LoneStoreName = 'redis' | 'postgres' | 'mariadb' | 'consul';

/** The stores with a single server. Their servers keep confirmed data when they are killed. */
const LONE_STORES: Readonly<Record<LoneStoreName, LoneStore>> = {
  redis: {
    server: shareService('redis', () =>
      startRedis({ way: 'process', settings: { appendonly: 'yes', appendfsync: 'always' } }),
    ),
    url: (endpoint) => `redis://${endpoint}`,
  },
  postgres: {
    server: shareService('postgres', () => startPostgres()),
    url: (endpoint) => postgresUrl({ endpoint }),
  },
  mariadb: {
    server: shareService('mariadb', () => startMariaDb()),
    url: (endpoint) => `mysql://root@${endpoint}/${mariaDbAccess({ endpoint }).database}`,
  },
  consul: {
    server: shareService('consul', () => startConsul({ way: 'process', settings: CONSUL_OF_MANY_CLIENTS })),
    url: (endpoint) => `consul://${endpoint}?minTtlMs=100`,
    lateBy: 1,
  },
};

export const LONE_STORE_NAMES = Object.keys(LONE_STORES) as readonly LoneStoreName[];

const { signal } = new AbortController();
const READ_TTL_MS = 5_000;

export function loneServer(store: LoneStoreName): Promise<ProcessService> {
  return LONE_STORES[store].server('faults');
}

/** Returns how long after the end of its TTL a session of the store may still exist, in milliseconds. */
export function lateByMs(store: LoneStoreName, ttlMs: number): number {
  return (LONE_STORES[store].lateBy ?? 0) * ttlMs;
}

export function loneUrl(store: LoneStoreName, endpoint: string): string {
  return LONE_STORES[store].url(endpoint);
}

/**
 * Returns the entries of the given queues. The client that reads them opens a session, which also removes
 * expired entries.
 */
export async function presentAt(url: string, queues: readonly string[]): Promise<readonly LeftOver[]> {
  const backend = await backendFromUrl(url);
  try {
    await (await backend.open(READ_TTL_MS, signal)).close();
    const listed = await firstValueFrom(backend.queues!(''), { defaultValue: [] });
    return listed
      .filter(({ name }) => queues.includes(name))
      .map(({ name }) => ({ kind: 'key', what: name }));
  } finally {
    await backend.close();
  }
}
