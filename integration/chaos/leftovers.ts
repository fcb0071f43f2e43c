import { callEtcd, base64 } from '@queuelock/harness/services/etcd-gateway';
import { isRefusal } from './effects-zookeeper.ts';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { etcdMetrics, sumOf, zkFourLetter } from '@queuelock/harness/services';
import { until } from '@queuelock/harness/services/until';
import type { Cluster } from '@queuelock/harness/clusters';
import type { StoreName } from './profiles.ts';

/** A key, lease, session or watch that exists on the servers. */
export interface LeftOver {
  readonly kind: 'key' | 'lease' | 'session' | 'watch';
  readonly what: string;
}

const READ_WITHIN_MS = 20_000;
const RESPONSE_WITHIN_MS = 5_000;
const PRIVATE = '.queuelock';
/**
 * On ZooKeeper, the path of the queue (gate) that lets one claim of several names enqueue at a time. Its
 * directory stays for a while after it is empty, so it is no leftover.
 */
const GATE = `${PRIVATE}/gate`;

/**
 * Resolves with what the servers store for the given queues, and with all their sessions and watches. A
 * failed read is repeated: a member that has just restarted may lose its leader once more and close the
 * connection.
 */
export function presentOn(
  store: StoreName,
  cluster: Cluster,
  queues: readonly string[],
): Promise<readonly LeftOver[]> {
  const read = store === 'etcd' ? onEtcd : onZooKeeper;
  return until(() => read(cluster, queues), { what: `a look at all of ${store}`, withinMs: READ_WITHIN_MS });
}

async function onEtcd(cluster: Cluster, queues: readonly string[]): Promise<LeftOver[]> {
  const [endpoint = ''] = cluster.endpoints;
  const call = (name: string, body: object): Promise<unknown> =>
    callEtcd({ endpoint, call: name, agent: false, signal: AbortSignal.timeout(RESPONSE_WITHIN_MS) }, body);
  const keysUnder = async (directory: string): Promise<LeftOver[]> => {
    const range = { key: base64(`${directory}/`), range_end: base64(`${directory}0`), keys_only: true };
    const { kvs = [] } = (await call('kv/range', range)) as { kvs?: { key: string }[] };
    return kvs.map(({ key }) => ({ kind: 'key', what: Buffer.from(key, 'base64').toString() }));
  };
  const keys = await Promise.all([...queues, PRIVATE].map(keysUnder));
  const { leases = [] } = (await call('lease/leases', {})) as { leases?: { ID: string }[] };
  const watches = await Promise.all(cluster.endpoints.map(etcdWatches));
  return [
    ...keys.flat(),
    ...leases.map(({ ID }): LeftOver => ({ kind: 'lease', what: ID })),
    ...watches.flat(),
  ];
}

async function etcdWatches(endpoint: string): Promise<LeftOver[]> {
  const count = sumOf(await etcdMetrics(endpoint), 'etcd_debugging_mvcc_watcher_total');
  return count === 0 ? [] : [{ kind: 'watch', what: `${count} on ${endpoint}` }];
}

async function onZooKeeper(cluster: Cluster, queues: readonly string[]): Promise<LeftOver[]> {
  return ZooKeeperWire.during(cluster.endpoints[0]!, async (wire) => {
    const childrenOf = async (directory: string): Promise<string[]> => {
      const names = await wire.children(`/${directory}`).catch((error: unknown) => {
        if (isRefusal(error, 'noNode')) return [];
        throw error;
      });
      return names.map((name) => `/${directory}/${name}`);
    };
    const entries = await Promise.all([...queues, GATE].map(childrenOf));
    const sessions = (await childrenOf(PRIVATE)).filter((path) => path !== `/${GATE}`);
    const watches = await Promise.all(cluster.endpoints.map(zooKeeperWatches));
    return [
      ...entries.flat().map((what): LeftOver => ({ kind: 'key', what })),
      ...sessions.map((what): LeftOver => ({ kind: 'session', what })),
      ...watches.flat(),
    ];
  });
}

async function zooKeeperWatches(endpoint: string): Promise<LeftOver[]> {
  const response = await zkFourLetter(endpoint, 'wchs');
  const [, total] = /Total watches:(\d+)/.exec(response) ?? [];
  if (total === undefined) throw new Error(`${endpoint} says of its watches: ${response}`);
  const count = Number(total);
  return count === 0 ? [] : [{ kind: 'watch', what: `${count} on ${endpoint}` }];
}
