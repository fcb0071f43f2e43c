import {
  recordRanAgainstCluster,
  startEtcdCluster,
  startZooKeeperCluster,
  type Cluster,
} from '@queuelock/harness/clusters';
import { atTeardown } from '@queuelock/harness/services/shared';
import type { Profile, StoreName } from './profiles.ts';
import { ZOOKEEPER_TIMING } from './profiles.ts';

const started = new Map<string, Promise<Cluster>>();

/**
 * Returns the cluster of this store and profile that all test files of this process share. The first caller
 * starts it, and it ends after the last test.
 */
export async function sharedCluster(store: StoreName, profile: Profile): Promise<Cluster> {
  // etcd has the same settings in all profiles, so one cluster is enough.
  const key = store === 'etcd' ? store : `${store} ${profile}`;
  let cluster = started.get(key);
  if (!cluster) {
    const starting = (cluster = store === 'etcd' ? startEtcdCluster() : startZooKeeper(profile));
    started.set(key, starting);
    atTeardown(async () => {
      started.delete(key);
      // Ignores a failed start, because the test that started the cluster has already failed with the error.
      await (await starting.catch(() => undefined))?.stop();
    });
  }
  const running = await cluster;
  recordRanAgainstCluster('faults', running);
  return running;
}

function startZooKeeper(profile: Profile): Promise<Cluster> {
  const { tickMs, syncLimit } = ZOOKEEPER_TIMING[profile];
  return startZooKeeperCluster({ settings: { tickTime: tickMs, syncLimit } });
}
