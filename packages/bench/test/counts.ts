import { createLockClient, type Backend, type LockClient, type LockClientOptions } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { orSkip } from '@queuelock/harness/services/skip';
import { join, type Place } from '../../../integration/scenarios/join.ts';
import { until } from '@queuelock/harness/services/until';
import { untilWatchingEtcd, untilWatchingZooKeeper } from '../peers/node/quiet.ts';
import { startServer, type BenchServer, type Counters } from '../src/server.ts';

/** A backend whose requests are counted, and the least number of requests for each operation on it. */
export interface Counted {
  readonly title: string;
  readonly store: 'etcd' | 'zookeeper';
  readonly client: string;
  readonly backend: (endpoint: string) => Backend;
  readonly untilWatching: (endpoint: string, watches: number) => Promise<void>;
  /** Number of requests to acquire and release a free lock. */
  readonly cycle: Counters;
  /**
   * Number of additional requests when a hold lasts so long that the client checks its own entry. A client
   * that releases at once may check it at most while it waits for the response to the release.
   */
  readonly longHold: Counters;
  /** Number of requests from a release to the grant of the next waiter. */
  readonly handOff: Counters;
  /** Number of requests of an enqueue, not counting watches. */
  readonly mostPerEnqueue: number;
}

// Value of `syncLimit` for a single server, which has no followers that could lag behind.
const SINGLE_SYNC_LIMIT = 2;

export const stores: readonly Counted[] = [
  {
    title: 'etcd',
    store: 'etcd',
    client: 'queuelock, socket',
    backend: (endpoint) => etcd({ hosts: [endpoint] }),
    untilWatching: untilWatchingEtcd,
    cycle: { requests: 2, writes: 2 },
    longHold: {},
    handOff: { requests: 1, writes: 1, events: 1 },
    mostPerEnqueue: 2,
  },
  {
    title: 'ZooKeeper',
    store: 'zookeeper',
    client: 'queuelock, wire',
    backend: (endpoint) => zookeeper({ hosts: [endpoint], syncLimit: SINGLE_SYNC_LIMIT }),
    untilWatching: untilWatchingZooKeeper,
    cycle: { requests: 3 },
    longHold: { requests: 1, events: 1 },
    handOff: { requests: 1, events: 1 },
    mostPerEnqueue: 3,
  },
];

export const COUNTED: readonly string[] = ['requests', 'reads', 'writes', 'events'];

// TTL in milliseconds, so long that no heartbeat is sent while requests are counted.
const TTL_MS = 60_000;
const RENEW_EVERY_MS = TTL_MS / 2;
const QUIET_READS = 4;

/** A server for a suite, and the fixtures of each test. */
export interface Counting {
  readonly server: BenchServer;
  /** Returns a client that has opened its session, and has no requests in flight. */
  readonly connect: (endpoint?: string, options?: LockClientOptions) => Promise<LockClient>;
  /** Opens a proxy to the server that counts bytes. */
  readonly proxy: () => Promise<TcpProxy>;
}

/** Registers the mocha hooks that start a server for the suite and close the clients of each test. */
export function countingAt(counted: Counted): Counting {
  let server: BenchServer;
  let stop = (): Promise<void> => Promise.resolve();
  const clients: LockClient[] = [];
  const proxies: TcpProxy[] = [];

  before(async function () {
    server = await orSkip(this, startServer(counted.store, 'disk'));
    stop = () => server.stop();
  });

  afterEach(async () => {
    for (const proxy of proxies) await proxy.heal();
    // Ends the clients with `abandon`, which leaves their entries in the store. The entries are removed with
    // the server.
    await Promise.all(clients.splice(0).map((client) => client.abandon()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  after(async () => {
    await stop();
  });

  return {
    get server() {
      return server;
    },
    connect: async (
      endpoint = server.endpoint,
      options = { ttlMs: TTL_MS, heartbeatIntervalMs: RENEW_EVERY_MS },
    ) => {
      const client = createLockClient(counted.backend(endpoint), options);
      clients.push(client);
      await (await client.acquire('connected')).release();
      await settled(server, 2);
      return client;
    },
    proxy: async () => {
      const proxy = await startProxy(server.endpoint);
      proxies.push(proxy);
      return proxy;
    },
  };
}

/** Enqueues a holder and `waiters` waiters, and returns their entries in order. */
export async function lineUp(client: LockClient, name: string, waiters: number): Promise<Place[]> {
  const holder = await join(client, name);
  await holder.held;
  const behind = await Promise.all(Array.from({ length: waiters }, () => join(client, name)));
  return [holder, ...behind.toSorted((a, b) => (a.order < b.order ? -1 : 1))];
}

/** Makes `times` hand-offs. In each of them the holder releases, and the next waiter is granted. */
export async function handOver(line: readonly Place[], times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await (await line[i]!.held).release();
    await line[i + 1]!.held;
  }
}

const ALL = [...COUNTED, 'LeaseKeepAlive', 'Watch'];

/** Returns by how much the server's counters of requests grew while `work` ran. */
export async function costOf(server: BenchServer, work: () => Promise<unknown>): Promise<Counters> {
  const before = await server.counters();
  await work();
  await settled(server);
  return changesOf(before, await server.counters(), COUNTED);
}

/** Returns the counters that have changed, each with its difference. */
export function changesOf(before: Counters, after: Counters, of: readonly string[]): Counters {
  const changes = of.map((key) => [key, (after[key] ?? 0) - (before[key] ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}

/**
 * Resolves when several reads of the server's counters in a row are equal, so that no request is in flight.
 */
export async function settled(server: BenchServer, reads = QUIET_READS): Promise<void> {
  let seen = '';
  let quiet = 0;
  const read = async (): Promise<void> => {
    const counters = await server.counters();
    const now = ALL.map((key) => counters[key]).join(' ');
    quiet = now === seen ? quiet + 1 : 0;
    seen = now;
    if (quiet < reads) throw new Error('it goes on');
  };
  await until(read, { what: 'nothing goes on', withinMs: 30_000 });
}

/**
 * Returns the lowest value of each counter. `costs` are the counters of several repetitions of the same work.
 */
export function leastOf(costs: readonly Counters[]): Counters {
  const least = (what: string): number => Math.min(...costs.map((cost) => cost[what] ?? 0));
  return Object.fromEntries(COUNTED.map((what) => [what, least(what)]));
}

export function plusOne(cost: Counters): Counters {
  return Object.fromEntries(Object.entries(cost).map(([what, count]) => [what, count + 1]));
}

/** Expects that no counter exceeds its limit. A counter without a limit must not have changed. */
export function expectAtMost(cost: Counters, most: Counters): void {
  for (const [what, count] of Object.entries(cost)) expect(count, what).to.be.at.most(most[what] ?? 0);
}

export function times(count: number, cost: Counters): Counters {
  return Object.fromEntries(Object.entries(cost).map(([kind, each]) => [kind, each * count]));
}
