import { firstValueFrom } from 'rxjs';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { startRedis } from '@queuelock/harness/services';
import { mariaDbAccess, startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { shareService } from '@queuelock/harness/services/shared';
import type { LeftOver } from './leftovers.ts';

/** A store with a single server. */
interface LoneStore {
  /** Returns the server that all test files of this process share. Rejects with NotHere. */
  readonly server: (what: string) => Promise<ProcessService>;
  /** Returns the URL of the backend for this address of the server. */
  url(endpoint: string): string;
}

export type LoneStoreName = 'redis' | 'postgres' | 'mariadb';

/** Confirmed data survives a kill of these servers. */
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
};

export const LONE_STORE_NAMES = Object.keys(LONE_STORES) as readonly LoneStoreName[];

const { signal } = new AbortController();
const LOOK_TTL_MS = 5_000;

export function loneServer(store: LoneStoreName): Promise<ProcessService> {
  return LONE_STORES[store].server('faults');
}

export function loneUrl(store: LoneStoreName, endpoint: string): string {
  return LONE_STORES[store].url(endpoint);
}

/** Returns the entries of these queues. A client that opens a session removes expired ones. */
export async function presentAt(url: string, queues: readonly string[]): Promise<readonly LeftOver[]> {
  const backend = await backendFromUrl(url);
  try {
    await (await backend.open(LOOK_TTL_MS, signal)).close();
    const listed = await firstValueFrom(backend.queues!(''), { defaultValue: [] });
    return listed
      .filter(({ name }) => queues.includes(name))
      .map(({ name }) => ({ kind: 'key', what: name }));
  } finally {
    await backend.close();
  }
}
