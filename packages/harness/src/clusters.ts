/**
 * Clusters of three servers on one machine, with faults: crashes, pauses, partitions, slow links and full disks. The
 * network is one of two, behind one interface:
 *
 * - `namespaces` (Linux, root): a namespace of the kernel's network per member and per client, with a router in the
 *   middle that drops or rejects packets. Taken when it can be had; missing tools are installed if that is possible.
 * - `proxies` (anywhere): all on 127.0.0.1, every link through a TCP proxy in a process of its own.
 *
 * What one of them cannot do is in `absent` and rejects with FaultAbsent: `delay` in namespaces, `loss` over proxies.
 */
import { chooseNetwork } from './clusters/choose-network.ts';
import { Cluster } from './clusters/cluster.ts';
import { etcdStore } from './clusters/etcd-store.ts';
import type { NetworkWay } from './clusters/network.ts';
import type { Store } from './clusters/store.ts';
import { zooKeeperStore } from './clusters/zookeeper-store.ts';
import { checkEtcdFlags, type EtcdFlags } from './services/etcd-process.ts';
import { recordLine } from './services/shared.ts';
import { checkZooKeeperSettings, type ZooKeeperSettings } from './services/zookeeper-process.ts';

export type { ClusterClient } from './clusters/client.ts';
export type { Member } from './clusters/member.ts';
export { FaultAbsent } from './clusters/network.ts';
export type { Cluster };

export interface ClusterOptions {
  /** Forces a network; without it namespaces are taken where they can be had. */
  readonly network?: NetworkWay;
  /**
   * Puts each member's data on a file system in memory of this many MiB, so that it can be filled. At least 200: both
   * stores reserve files of 64 MiB. Needs Linux and root; where it cannot be had, `absent` tells why.
   */
  readonly diskMiB?: number;
}

export interface EtcdClusterOptions extends ClusterOptions {
  /** Flags of each server, see EtcdFlags. */
  readonly flags?: EtcdFlags;
}

export interface ZooKeeperClusterOptions extends ClusterOptions {
  /** Lines of zoo.cfg and Java properties. The tick is 500 ms, initLimit 10 and syncLimit 5 unless they say another. */
  readonly settings?: ZooKeeperSettings;
}

/** Starts three etcd servers as one cluster; resolves when all of them serve requests and follow one leader. */
export async function startEtcdCluster({
  flags = {},
  ...options
}: EtcdClusterOptions = {}): Promise<Cluster> {
  checkEtcdFlags(flags);
  return startCluster(() => etcdStore(flags), options);
}

/** Starts three ZooKeeper servers as one ensemble; resolves when all of them serve requests and follow one leader. */
export async function startZooKeeperCluster({
  settings = {},
  ...options
}: ZooKeeperClusterOptions = {}): Promise<Cluster> {
  checkZooKeeperSettings(settings);
  return startCluster(() => zooKeeperStore(settings), options);
}

/** Appends what the cluster is to the file that QUEUELOCK_RAN_AGAINST names, if it does. */
export function recordRanAgainstCluster(what: string, { description }: Cluster): void {
  recordLine(what, description);
}

const MEMBERS = 3;
const ATTEMPTS = 5;

// Somebody else may take a port between the choice and the start; then all is done again with others.
async function startCluster(makeStore: () => Store, { network, diskMiB }: ClusterOptions): Promise<Cluster> {
  if (diskMiB !== undefined && !(diskMiB >= 200))
    throw new RangeError(`diskMiB: ${diskMiB} is less than 200, which is what the files of the stores need`);
  for (let attempt = 1; ; attempt += 1) {
    const store = makeStore();
    if (!(await store.isHere())) await store.install();
    const chosen = await chooseNetwork(network, { usual: store.usualPorts }, MEMBERS);
    const cluster = new Cluster(store, chosen);
    try {
      await cluster.start(diskMiB);
      return cluster;
    } catch (error) {
      const { portTaken } = cluster;
      await cluster.stop();
      if (!portTaken || attempt === ATTEMPTS) throw error;
    }
  }
}
