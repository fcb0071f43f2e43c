import { createLockClient, type ClaimOptions, type LockClient, type MultiOwnership } from '@queuelock/core';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { etcdMetrics, sumOf, zkFourLetter } from '@queuelock/harness/services';
import { until } from '@queuelock/harness/services/until';
import { startOwnEtcd } from './etcd-store.ts';
import { join, type Place } from './join.ts';

import type { OwnSite } from './store.ts';
import { startOwnZooKeeper } from './zookeeper-store.ts';

const CYCLES = 100;
const WAITERS = 10;
// Largest number of additional reads of the queue in a test. A waiter that is notified late on a busy machine
// reads the queue by itself. An additional request in every hand-off would exceed the limit.
const MAX_LATE = WAITERS / 2;
// TTL in milliseconds. It is so long that no heartbeat is sent while requests are counted.
const TTL_MS = 60_000;
const QUIET_READS = 5;
const PERMITS = 3;

/** A store whose requests are counted, and the expected numbers of requests. */
interface Counted {
  readonly name: string;
  readonly start: () => Promise<OwnSite>;
  /** Returns the numbers of requests that the server has received so far from all clients, by kind. */
  readonly requests: (site: OwnSite) => Promise<Record<string, number>>;
  /** Number of requests, by kind, to acquire and release a free lock once. */
  readonly perCycle: Record<string, number>;
  /** Largest number of requests, by kind, from a release to the grant of the first waiter. */
  readonly perHandOff: Record<string, number>;
}

const counted: readonly Counted[] = [
  {
    name: 'etcd',
    start: () => startOwnEtcd('requests'),
    requests: etcdRequests,
    perCycle: { Txn: 1, DeleteRange: 1 },
    // Requests in a hand-off on etcd: `DeleteRange` is the release, and the two `Watch` requests end watches.
    // `Txn` writes the label of the new holder's entry, which the next waiter watches. `Range` reads the
    // queue for a waiter that was notified late.
    perHandOff: { Txn: 1, DeleteRange: 1, Range: 1, Watch: 2 },
  },
  {
    // Starts ZooKeeper with a tick at which it grants sessions with the TTL of the test, which must be
    // several ticks long.
    name: 'ZooKeeper',
    start: () => startOwnZooKeeper('requests', TTL_MS / 20),
    requests: zooKeeperRequests,
    // On ZooKeeper, acquiring and releasing a lock takes three requests. Create and list are sent together:
    // the list shows the token of the new node, since no other client joined in between. The third request is
    // the delete.
    perCycle: { requests: 3 },
    // On ZooKeeper, a hand-off takes two requests: the delete of the release, and the next waiter's read of
    // the queue.
    perHandOff: { requests: 2 },
  },
];

for (const { name, start, requests, perCycle, perHandOff } of counted) {
  describe(`the cost of a lock in ${name}`, function () {
    this.timeout(60_000);
    let site: OwnSite;
    const clients: LockClient[] = [];
    const proxies: TcpProxy[] = [];

    const connect = (endpoint = site.endpoint): LockClient => {
      const client = createLockClient(site.backend(endpoint), { ttlMs: TTL_MS });
      clients.push(client);
      return client;
    };

    before(async () => {
      site = await start();
    });

    afterEach(async () => {
      // Stops the proxies first, because ZooKeeper's client blocks until a connection has received all its
      // responses.
      await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
      await Promise.all(clients.splice(0).map((client) => client.close()));
    });

    after(async () => {
      await site.server.stop();
    });

    it('is the lowest number of requests that the store permits for a free lock', async () => {
      const client = connect();
      await (await client.acquire('free')).release();
      // Waits until all requests that the client sends with its first session are over. One of them reads the
      // version of the server, and the client does not wait for its response.
      await untilQuiet(async () => JSON.stringify(await requests(site)));
      const before = await requests(site);
      for (let cycle = 0; cycle < CYCLES; cycle += 1) await (await client.acquire('free')).release();
      const cost = difference(before, await requests(site));
      expect(cost).to.deep.equal(times(CYCLES, perCycle));
    });

    /** Enqueues `count` clients in a queue, each through its own proxy. */
    async function lineUp(name: string, count: number, options: ClaimOptions = {}): Promise<Place[]> {
      const line: Place[] = [];
      for (let i = 0; i < count; i += 1) {
        const proxy = await startProxy(site.endpoint);
        proxies.push(proxy);
        line.push(await join(connect(proxy.endpoint), name, options));
      }
      await untilQuiet(receivedByAll);
      return line;
    }

    const receivedByAll = (): number => proxies.reduce((sum, { toClient }) => sum + toClient.bytes, 0);

    /** Returns the indexes of the waiters to which the server sends data while `action` runs. */
    async function listening(action: () => Promise<unknown>): Promise<number[]> {
      const wasReceived = proxies.map(({ toClient }) => toClient.bytes);
      await action();
      return proxies.flatMap(({ toClient }, at) => (toClient.bytes > wasReceived[at]! ? [at] : []));
    }

    it(`does not grow with the queue: a release notifies only one of ${WAITERS} waiters`, async () => {
      const line = await lineUp('line', WAITERS + 1);
      const before = await requests(site);
      for (let i = 0; i < WAITERS; i += 1) {
        const woken = await listening(async () => {
          await (await line[i]!.held).release();
          await line[i + 1]!.held;
        });
        expect(woken.filter((at) => at > i)).to.deep.equal([i + 1]);
      }
      for (const [kind, count] of Object.entries(difference(before, await requests(site)))) {
        expect(count, kind).to.be.at.most(WAITERS * (perHandOff[kind] ?? 0) + MAX_LATE);
      }
    });

    it(`does not grow with the queue: the release of one of ${PERMITS} permits notifies at most ${PERMITS} of ${WAITERS} waiters`, async () => {
      const line = await lineUp('permits', WAITERS + PERMITS, { limit: PERMITS });
      const wakeUps: number[] = [];
      for (let i = 0; i < WAITERS; i += 1) {
        const woken = await listening(async () => {
          await (await line[i]!.held).release();
          await line[i + PERMITS]!.held;
          await untilQuiet(receivedByAll);
        });
        wakeUps.push(woken.filter((at) => at >= i + PERMITS).length);
      }
      expect(Math.max(...wakeUps)).to.be.at.most(PERMITS);
    });

    it("does not grow with the queue: a writer's release notifies only the readers directly behind it", async () => {
      const writer = await join(connect(), 'phases');
      const readers = await lineUp('phases', 5, { mode: 'shared' });
      const others = await lineUp('phases', 5);
      const woken = await listening(async () => {
        await (await writer.held).release();
        await Promise.all(readers.map(({ held }) => held));
        await untilQuiet(receivedByAll);
      });
      expect(woken).to.deep.equal([0, 1, 2, 3, 4]);
      for (const reader of readers.slice(0, -1)) {
        const extra = await listening(async () => {
          await (await reader.held).release();
          await untilQuiet(receivedByAll);
        });
        expect(
          extra.filter((at) => at >= readers.length),
          'one waits for the nearest reader',
        ).to.have.length.at.most(1);
      }
      const last = await listening(async () => {
        await (await readers.at(-1)!.held).release();
        await others[0]!.held;
      });
      expect(last.filter((at) => at >= readers.length)).to.deep.equal([readers.length]);
    });

    it('does not grow with the queue: the release of a lock of several names notifies only the waiter behind it', async () => {
      const names = ['left', 'right'];
      const holds: { held: Promise<MultiOwnership>; subscription: { unsubscribe(): void } }[] = [];
      for (let i = 0; i < 6; i += 1) {
        const proxy = await startProxy(site.endpoint);
        proxies.push(proxy);
        const multi = connect(proxy.endpoint).multi(i % 2 === 0 ? names : [...names].reverse());
        await new Promise<void>((inLine) => {
          let granted!: (ownership: MultiOwnership) => void;
          const held = new Promise<MultiOwnership>((grant) => (granted = grant));
          const subscription = multi.claim().subscribe((state) => {
            if (state.status === 'held') granted(state.ownership);
            if (state.status !== 'joining') inLine();
          });
          holds.push({ held, subscription });
        });
      }
      await untilQuiet(receivedByAll);
      for (let i = 0; i < 5; i += 1) {
        const woken = await listening(async () => {
          await (await holds[i]!.held).release();
          await holds[i + 1]!.held;
          await untilQuiet(receivedByAll);
        });
        const behind = woken.filter((at) => at > i);
        expect(behind[0]).to.equal(i + 1);
        // On etcd the new holder writes the label of its own entry. The waiter directly behind it watches
        // this entry, and may be notified too. It is the second one behind the client that released.
        expect(behind.every((at) => at <= i + 2)).to.equal(true);
      }
      for (const { subscription } of holds) subscription.unsubscribe();
    });
  });
}

/** Calls `read` repeatedly. Resolves when several calls in a row have returned the same value. */
async function untilQuiet<T>(read: () => T | Promise<T>): Promise<void> {
  let seen: T | undefined;
  let quiet = 0;
  const readState = async (): Promise<void> => {
    const now = await read();
    quiet = now === seen ? quiet + 1 : 0;
    seen = now;
    if (quiet < QUIET_READS) throw new Error(`it is ${String(now)} now`);
  };
  await until(readState, { what: 'nothing goes on', withinMs: 30_000 });
}

async function etcdRequests({ endpoint }: OwnSite): Promise<Record<string, number>> {
  const metrics = await etcdMetrics(endpoint);
  const methods = [...metrics.keys()].flatMap((sample) => {
    const [, method] = /^grpc_server_started_total\{grpc_method="(\w+)"/.exec(sample) ?? [];
    return method === undefined ? [] : [method];
  });
  return Object.fromEntries(
    methods.map((method) => [
      method,
      sumOf(metrics, 'grpc_server_msg_received_total', { grpc_method: method }),
    ]),
  );
}

/** Returns the number of messages that the ZooKeeper server received on connections with a session. */
async function zooKeeperRequests({ endpoint }: OwnSite): Promise<Record<string, number>> {
  const connections = await zkFourLetter(endpoint, 'cons');
  const received = [...connections.matchAll(/recved=(\d+),sent=\d+,sid=/g)].map(([, count]) => Number(count));
  return { requests: received.reduce((sum, count) => sum + count, 0) };
}

function difference(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const changes = Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, count]) => count !== 0));
}

function times(count: number, cost: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(cost).map(([kind, each]) => [kind, each * count]));
}
