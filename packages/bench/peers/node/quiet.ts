import { zkFourLetter } from '@queuelock/harness/services/four-letter';
import { etcdMetrics, sumOf } from '@queuelock/harness/services/metrics';
import { until } from '@queuelock/harness/services/until';

const QUIET_READS = 3;
const MAX_WAIT_MS = 120_000;

/**
 * Resolves when the etcd server has at least `watches` watches, and all of them have caught up with the
 * store. Their number must have stopped changing, and clients must have stopped reading.
 */
export async function untilWatchingEtcd(endpoint: string, watches: number): Promise<void> {
  await untilSteady(watches, async () => {
    const metrics = await etcdMetrics(endpoint);
    const behind = sumOf(metrics, 'etcd_debugging_mvcc_slow_watcher_total');
    const watched = behind > 0 ? 0 : sumOf(metrics, 'etcd_debugging_mvcc_watcher_total');
    const requested = sumOf(metrics, 'grpc_server_handled_total', { grpc_service: 'etcdserverpb.KV' });
    return { watched, requested };
  });
}

export async function untilWatchingZooKeeper(endpoint: string, watches: number): Promise<void> {
  await untilSteady(watches, async () => {
    const [, count] = /^zk_watch_count\s+(\d+)/m.exec(await zkFourLetter(endpoint, 'mntr')) ?? [];
    return { watched: Number(count), requested: 0 };
  });
}

/** The number of watches on a server, and of its requests so far. */
interface Load {
  readonly watched: number;
  /** Number of requests that the server has received so far, if it counts requests. */
  readonly requested: number;
}

async function untilSteady(atLeast: number, read: () => Promise<Load>): Promise<void> {
  let seen = { watched: -1, requested: -1 };
  let quiet = 0;
  const readState = async (): Promise<void> => {
    const now = await read();
    const isSame = now.watched === seen.watched && now.requested === seen.requested;
    quiet = isSame && now.watched >= atLeast ? quiet + 1 : 0;
    seen = now;
    if (quiet < QUIET_READS) throw new Error(`${now.watched} of ${atLeast}`);
  };
  await until(readState, { what: `${atLeast} watches`, withinMs: MAX_WAIT_MS });
}
