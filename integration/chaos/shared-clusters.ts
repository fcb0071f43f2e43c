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

/** One cluster of each kind for all test files of this process: started by the first who asks, ended after the last test. */
export async function sharedCluster(store: StoreName, profile: Profile): Promise<Cluster> {
  // etcd's settings are the same in all profiles.
  const key = store === 'etcd' ? store : `${store} ${profile}`;
  let cluster = started.get(key);
  if (!cluster) {
    const starting = (cluster = store === 'etcd' ? startEtcdCluster() : startZooKeeper(profile));
    started.set(key, starting);
    atTeardown(async () => {
      started.delete(key);
      // Whoever asked for a cluster that did not start has the error already.
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
