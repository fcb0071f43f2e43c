import { fromUrl } from '@queuelock/zookeeper';
import { recordRanAgainst, sharedZooKeeper, startZooKeeper, zkFourLetter } from '@queuelock/harness/services';
import { withSession } from '@queuelock/harness/services/plain-clients';
import type { OwnSite, Site, Store } from './store.ts';

const TICK_MS = 500;
// Value of `syncLimit` for a single server, which has no followers that lag behind. The backend requires
// sessions of at least `syncLimit` plus two ticks, which is four ticks.
const SINGLE_SYNC_LIMIT = 2;

/** Two settings of the ZooKeeper server, which the URL of the backend has to contain. */
interface Ticks {
  readonly tickMs: number;
  readonly syncLimit: number;
}

export const zooKeeperStore: Store = {
  name: 'ZooKeeper',
  async share(suite) {
    const { endpoint } = await sharedZooKeeper(suite);
    return siteOf(endpoint, await ticksOf(endpoint));
  },
  start: (suite) => startOwnZooKeeper(suite),
};

export async function startOwnZooKeeper(suite: string, tickMs: number = TICK_MS): Promise<OwnSite> {
  const server = await startZooKeeper({ settings: { tickTime: tickMs } });
  if (server.way === 'endpoints') throw new Error('a given ZooKeeper is nobody’s own');
  recordRanAgainst(suite, 'ZooKeeper', server);
  return { ...siteOf(server.endpoint, { tickMs, syncLimit: SINGLE_SYNC_LIMIT }), server };
}

function siteOf(endpoint: string, { tickMs, syncLimit }: Ticks): Site {
  const url = (at = endpoint): string => `zk://${at}?tickTimeMs=${tickMs}&syncLimit=${syncLimit}`;
  return {
    endpoint,
    ttlMs: (syncLimit + 2) * tickMs,
    longTtlMs: Math.min(20 * tickMs, 60_000),
    expiryMs: 2 * tickMs + 500,
    url,
    backend: (at) => fromUrl(url(at)),
    entries: async (name) => {
      const children = await childrenOf(endpoint, `/${name}`);
      return children.map((child) => `/${name}/${child}`);
    },
    async evict(key) {
      await withSession(endpoint, (session, done) => session.a_delete_(key, -1, done));
    },
    async sessions() {
      const [, sessions = ''] = (await zkFourLetter(endpoint, 'dump')).split('ephemeral nodes dump');
      return [...sessions.matchAll(/^(0x[0-9a-f]+):/gm)].map(([, id]) => id!);
    },
    async watches() {
      const [, count] = /Total watches:(\d+)/.exec(await zkFourLetter(endpoint, 'wchs')) ?? [];
      return Number(count);
    },
  };
}

/** Returns the children of a path, or none if there is no such node. */
async function childrenOf(endpoint: string, path: string): Promise<string[]> {
  const [children] = await withSession(endpoint, (session, done) =>
    session.a_get_children(path, false, done),
  ).catch((error: unknown) => {
    if (/no node/i.test(String(error))) return [[]];
    throw error;
  });
  return children as string[];
}

/** Reads the tick and the sync limit from the server. A single server reports no sync limit. */
async function ticksOf(endpoint: string): Promise<Ticks> {
  const conf = await zkFourLetter(endpoint, 'conf');
  const read = (name: string): string | undefined => new RegExp(`^${name}=(\\d+)$`, 'm').exec(conf)?.[1];
  return { tickMs: Number(read('tickTime')), syncLimit: Number(read('syncLimit') ?? SINGLE_SYNC_LIMIT) };
}
