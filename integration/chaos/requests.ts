import type { Cluster } from '@queuelock/harness/clusters';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { etcdMetrics, sumOf, zkFourLetter } from '@queuelock/harness/services';
import { callEtcd } from '@queuelock/harness/services/etcd-gateway';
import { until } from '@queuelock/harness/services/until';
import type { Experiment } from './experiment.ts';
import type { WorkerProcess } from './worker-process.ts';

const RESPONSE_WITHIN_MS = 10_000;

/**
 * Returns an upper limit for how often the lock clients of the given workers have read a queue. It counts all
 * requests that the members received, except for heartbeats of these workers. So it may include other
 * requests.
 */
export async function readsQueues(
  { store, cluster }: Experiment,
  workers: readonly WorkerProcess[],
): Promise<number> {
  const count = (): Promise<number> =>
    store === 'etcd' ? etcdRequests(cluster) : zooKeeperRequests(cluster, workers);
  const requests = await until(count, {
    what: 'all members tell their requests',
    withinMs: RESPONSE_WITHIN_MS,
  });
  const heartbeats = workers.flatMap(({ events }) => events).filter(({ ev }) => ev === 'beat');
  return requests - heartbeats.length;
}

/** Returns the ids of the sessions that have entries on the servers. */
export function sessionsOf(experiment: Experiment): Promise<readonly string[]> {
  const what = 'a member tells the sessions';
  return until(() => readSessions(experiment), { what, withinMs: RESPONSE_WITHIN_MS });
}

async function readSessions({ store, cluster }: Experiment): Promise<readonly string[]> {
  const [endpoint = ''] = cluster.endpoints;
  if (store === 'etcd') {
    const call = {
      endpoint,
      call: 'lease/leases',
      agent: false,
      signal: AbortSignal.timeout(5_000),
    } as const;
    const { leases = [] } = (await callEtcd(call, {})) as { leases?: { ID: string }[] };
    return leases.map(({ ID }) => BigInt(ID).toString(16));
  }
  return ZooKeeperWire.during(endpoint, (wire) => wire.children('/.queuelock'));
}

// Returns the number of transactions and reads that all clients have sent to etcd. A heartbeat counts as one
// transaction. Requests of watches are not counted.
async function etcdRequests(cluster: Cluster): Promise<number> {
  const members = await Promise.all(cluster.endpoints.map(etcdMetrics));
  const counts = members.flatMap((metrics) =>
    ['Txn', 'Range'].map((grpc_method) => sumOf(metrics, 'grpc_server_started_total', { grpc_method })),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function zooKeeperRequests(cluster: Cluster, workers: readonly WorkerProcess[]): Promise<number> {
  const sessions = new Set(workers.map(sessionOf));
  const responses = await Promise.all(cluster.endpoints.map((endpoint) => zkFourLetter(endpoint, 'cons')));
  const connections = responses.join('').matchAll(/recved=(\d+),sent=\d+,sid=0x([0-9a-f]+),/g);
  let sum = 0;
  for (const [, received, session] of connections) if (sessions.has(session!)) sum += Number(received);
  return sum;
}

/** Returns the id of the session that owns the worker's newest entry. */
export function sessionOf({ id, events }: WorkerProcess): string {
  const queued = events.findLast((event) => event.ev === 'queued');
  if (!queued) throw new Error(`${id} was in no queue yet`);
  return queued.session;
}
