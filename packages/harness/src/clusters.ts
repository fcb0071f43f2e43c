/**
 * Clusters of three servers on one machine, with faults: crashes, freezes, partitions, slow links and full disks. There are two implementations of
 * the network behind one interface:
 *
 * - `namespaces` (Linux, root): a network namespace of the kernel for each member and client, with a router in the middle that drops or rejects
 *   packets. Used if available; missing tools are installed if possible.
 * - `proxies` (anywhere): all on 127.0.0.1, every link through a TCP proxy in a separate process.
 *
 * The property `absent` of a network lists the faults that it does not support. Calls that request such a fault reject with `FaultAbsent`: `delay` in
 * namespaces, `loss` over proxies.
 */
import { chooseNetwork } from './clusters/choose-network.ts';
import { Cluster } from './clusters/cluster.ts';
import { etcdStore } from './clusters/etcd-store.ts';
import type { NetworkKind } from './clusters/network.ts';
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
  /** The kind of network that the cluster must use. Default: namespaces if available, else proxies. */
  readonly network?: NetworkKind;
  /**
   * Size in MiB of an in-memory file system for each member's data, which a test can fill. At least 200, because etcd and ZooKeeper preallocate files
   * of 64 MiB. Needs Linux and root; otherwise `absent` contains the reason.
   */
  readonly diskMiB?: number;
}

export interface EtcdClusterOptions extends ClusterOptions {
  /** Command-line flags of each etcd server; see `EtcdFlags`. */
  readonly flags?: EtcdFlags;
}

export interface ZooKeeperClusterOptions extends ClusterOptions {
  /** Lines of zoo.cfg and Java properties. Defaults: tickTime 500, initLimit 10 and syncLimit 5. */
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

/**
 * Appends a line with a description of the cluster to the file named by the environment variable
 * QUEUELOCK_RAN_AGAINST, if it is set.
 */
export function recordRanAgainstCluster(what: string, { description }: Cluster): void {
  recordLine(what, description);
}

const MEMBERS = 3;
const ATTEMPTS = 5;

// Another process may take a port between the choice and the start. The start is then repeated with other ports.
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
