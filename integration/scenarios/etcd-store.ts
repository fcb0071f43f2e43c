import { fromUrl } from '@queuelock/etcd';
import { etcdMetrics, recordRanAgainst, sharedEtcd, startEtcd, sumOf } from '@queuelock/harness/services';
import type { EtcdFlags } from '@queuelock/harness/services/etcd-process';
import { etcdUrl } from '@queuelock/harness/services/etcd-transport';
import { callGateway } from '@queuelock/harness/services/plain-clients';
import type { OwnSite, Site, Store } from './store.ts';

// TTL in milliseconds. The least that a server with the default election timeout grants is 2 s, and a busy
// machine needs more.
const TTL_MS = 3_000;
// Longest delay in milliseconds, after the TTL, until the entries of a dead session are removed. etcd checks
// leases every 500 ms, and a busy machine needs more.
const EXPIRY_MS = 2_000;

export const etcdStore: Store = {
  name: 'etcd',
  share: async (suite) => siteOf((await sharedEtcd(suite)).endpoint),
  start: (suite) => startOwnEtcd(suite),
};

export async function startOwnEtcd(suite: string, flags: EtcdFlags = {}): Promise<OwnSite> {
  // Starts a server for custom flags, even if the tests are configured to use an external one.
  const server = await startEtcd({ flags: { 'log-level': 'info', ...flags } });
  if (server.way === 'endpoints') throw new Error('a given etcd is nobody’s own');
  recordRanAgainst(suite, 'etcd', server);
  return { ...siteOf(server.endpoint), server };
}

function siteOf(endpoint: string): Site {
  const url = (at = endpoint): string => etcdUrl(at);
  return {
    endpoint,
    ttlMs: TTL_MS,
    longTtlMs: 60_000,
    expiryMs: EXPIRY_MS,
    url,
    backend: (at) => fromUrl(url(at)),
    entries: (name) => keysUnder(endpoint, `${name}/`),
    async evict(key) {
      await callGateway(endpoint, 'kv/deleterange', { key: base64(key) });
    },
    async sessions() {
      const { leases = [] } = (await callGateway(endpoint, 'lease/leases', {})) as {
        leases?: { ID: string }[];
      };
      return leases.map(({ ID }) => BigInt(ID).toString(16));
    },
    watches: async () => sumOf(await etcdMetrics(endpoint), 'etcd_debugging_mvcc_watcher_total'),
  };
}

/** Returns the keys that start with `prefix`, which ends in a slash. */
async function keysUnder(endpoint: string, prefix: string): Promise<string[]> {
  const range = { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`), keys_only: true };
  const { kvs = [] } = (await callGateway(endpoint, 'kv/range', range)) as { kvs?: { key: string }[] };
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString());
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
