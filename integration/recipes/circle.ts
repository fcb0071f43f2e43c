import { createLockClient, type LockClient } from '@queuelock/core';
import { endScripts } from '@queuelock/harness/services/script-process';
import { etcdStore } from '../scenarios/etcd-store.ts';
import type { Site } from '../scenarios/store.ts';
import { untilNothingIsLeft } from '../scenarios/wait.ts';
import { zooKeeperStore } from '../scenarios/zookeeper-store.ts';
import { MemberProcess, type Spot } from './circle-members.ts';

const OWNERS = ['ann', 'ben', 'cat'];

/** Makes deadlocks of a given number of processes, with locks in etcd and ZooKeeper. */
export interface Circle {
  /** Lock clients that only observe the queues of the deadlock, one for each store. */
  readonly clients: readonly LockClient[];
  /** Queues of the latest deadlock that was made. */
  readonly spots: readonly Spot[];
  /**
   * Makes a deadlock of several processes. Each process holds one lock and waits for the lock of the next
   * process. The last process begins to wait last, for the first lock, which closes the cycle.
   */
  close(
    story: string,
    more: { readonly yields: boolean; readonly ttlMs: (site: Site) => number },
  ): Promise<readonly MemberProcess[]>;
}

/** Registers the hooks of a test suite, which end all processes of deadlocks after each test. */
export function circleOf(count: number): Circle {
  let sites: readonly Site[] = [];
  let spots: readonly Spot[] = [];
  let clients: readonly LockClient[] = [];

  before(async () => {
    const [etcd, zooKeeper] = [await etcdStore.share('deadlocks'), await zooKeeperStore.share('deadlocks')];
    sites = [etcd, zooKeeper, etcd].slice(0, count);
    clients = sites.map((site) => createLockClient(site.backend()));
  });

  after(() => Promise.all(clients.map((client) => client.close())));

  afterEach(async () => {
    await endScripts();
    for (const [i, site] of sites.entries()) await untilNothingIsLeft(site, spots[i]!.name);
  });

  return {
    get clients() {
      return clients;
    },
    get spots() {
      return spots;
    },
    async close(story, { yields, ttlMs }) {
      spots = sites.map((site, i) => ({
        url: site.url(),
        ttlMs: ttlMs(site),
        name: `${story}-${count}-${i}`,
      }));
      const members = spots.map(
        (holds, i) =>
          new MemberProcess({
            owner: OWNERS[i]!,
            holds,
            waitsFor: spots[(i + 1) % count]!,
            ...(yields ? { yieldsOver: spots } : {}),
          }),
      );
      await Promise.all(members.map((member) => member.idOf('holds')));
      for (const member of members) {
        member.tell({});
        await member.idOf('waits');
      }
      return members;
    },
  };
}
