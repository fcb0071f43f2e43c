import { callEtcd, base64 } from '../services/etcd-gateway.ts';
import { isRefusal } from './effects-zookeeper.ts';
import { ZooKeeperWire } from '../clusters/zookeeper-wire.ts';
import { etcdMetrics, sumOf, zkFourLetter } from '../services.ts';
import type { Cluster } from '../clusters.ts';
import type { StoreName } from './profiles.ts';

/** Something that the server still has. */
export interface LeftOver {
  readonly kind: 'key' | 'lease' | 'session' | 'watch';
  readonly what: string;
}

/** What is on the servers of these queues, and of sessions and watches of anybody. */
export function presentOn(
  store: StoreName,
  cluster: Cluster,
  queues: readonly string[],
): Promise<readonly LeftOver[]> {
  return store === 'etcd' ? onEtcd(cluster, queues) : onZooKeeper(cluster, queues);
}

const ANSWER_WITHIN_MS = 5_000;
const PRIVATE = '.queuelock';
/** On ZooKeeper: where those wait who join several queues at once. The directory itself stays for a while, as those of queues do. */
const GATE = `${PRIVATE}/gate`;

async function onEtcd(cluster: Cluster, queues: readonly string[]): Promise<LeftOver[]> {
  const [endpoint = ''] = cluster.endpoints;
  const call = (name: string, body: object): Promise<unknown> =>
    callEtcd({ endpoint, call: name, agent: false, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }, body);
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
  const wire = await ZooKeeperWire.open(cluster.endpoints[0]!);
  const childrenOf = async (directory: string): Promise<string[]> => {
    const names = await wire.children(`/${directory}`).catch((error: unknown) => {
      if (isRefusal(error, 'noNode')) return [];
      throw error;
    });
    return names.map((name) => `/${directory}/${name}`);
  };
  try {
    const entries = await Promise.all([...queues, GATE].map(childrenOf));
    const sessions = (await childrenOf(PRIVATE)).filter((path) => path !== `/${GATE}`);
    const watches = await Promise.all(cluster.endpoints.map(zooKeeperWatches));
    return [
      ...entries.flat().map((what): LeftOver => ({ kind: 'key', what })),
      ...sessions.map((what): LeftOver => ({ kind: 'session', what })),
      ...watches.flat(),
    ];
  } finally {
    wire.close();
  }
}

async function zooKeeperWatches(endpoint: string): Promise<LeftOver[]> {
  const answer = await zkFourLetter(endpoint, 'wchs');
  const count = Number(/Total watches:(\d+)/.exec(answer)?.[1]);
  return count === 0 ? [] : [{ kind: 'watch', what: `${count} on ${endpoint}` }];
}
