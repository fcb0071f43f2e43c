import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '../faults.ts';
import { etcdMetrics, sumOf, zkFourLetter } from '../services.ts';
import { startOwnEtcd } from './etcd-store.ts';
import type { OwnSite } from './stores.ts';
import { startOwnZooKeeper } from './zookeeper-store.ts';

const CYCLES = 100;
const WAITERS = 20;
// Long enough for no heartbeat to fall into a count.
const TTL_MS = 60_000;

/** What is counted, and how. */
interface Counted {
  readonly name: string;
  readonly start: () => Promise<OwnSite>;
  /** Requests of all clients that the server has taken so far, by kind. */
  readonly requests: (site: OwnSite) => Promise<Record<string, number>>;
  /** Of one lock that is free, and of its release. */
  readonly perCycle: Record<string, number>;
}

const counted: readonly Counted[] = [
  {
    name: 'etcd',
    start: () => startOwnEtcd('requests'),
    requests: etcdRequests,
    perCycle: { Txn: 2 },
  },
  {
    // Of several ticks, so that the server grants a session that long.
    name: 'ZooKeeper',
    start: () => startOwnZooKeeper('requests', TTL_MS / 20),
    requests: zooKeeperRequests,
    // Create and list in one flight, then a look at the new node for its token (the C client has no create that tells it);
    // one delete.
    perCycle: { requests: 4 },
  },
];

for (const { name, start, requests, perCycle } of counted) {
  describe(`what a lock costs in ${name}`, function () {
    this.timeout(30_000);
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
      await Promise.all(clients.splice(0).map((client) => client.close()));
      await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
    });

    after(async () => {
      await site.server.stop();
    });

    it('an acquisition of a free lock and its release cost the least number of requests', async () => {
      const client = connect();
      await (await client.acquire('free')).release();
      const before = await requests(site);
      for (let cycle = 0; cycle < CYCLES; cycle += 1) await (await client.acquire('free')).release();
      const cost = difference(before, await requests(site));
      console.log(cost);
      expect(cost).to.deep.equal(times(CYCLES, perCycle));
    });

    it(`a release wakes one of ${WAITERS} waiters: the others hear nothing`, async () => {
      const line = [];
      for (let i = 0; i <= WAITERS; i += 1) {
        const proxy = await startProxy(site.endpoint);
        proxies.push(proxy);
        line.push({ proxy, ...(await join(connect(proxy.endpoint), 'line')) });
      }
      const before = await requests(site);
      for (let i = 0; i < WAITERS; i += 1) {
        const heard = line.map(({ proxy }) => proxy.toClient.bytes);
        await (await line[i]!.held).release();
        await line[i + 1]!.held;
        const woken = line.map(({ proxy }, at) => at).filter((at) => line[at]!.proxy.toClient.bytes > heard[at]!);
        expect(woken.filter((at) => at > i)).to.deep.equal([i + 1]);
      }
      const cost = difference(before, await requests(site));
      console.log(cost);
    });
  });
}

/** Joins a line; answers when it stands in it. */
function join(client: LockClient, name: string): Promise<{ held: Promise<Ownership> }> {
  return new Promise((resolve, reject) => {
    const held = new Promise<Ownership>((grant, fail) => {
      client.claim(name).subscribe((state) => {
        if (state.status === 'held') grant(state.ownership);
        if (state.status === 'queued' || state.status === 'held') resolve({ held });
        if (state.status === 'ended') {
          const error = new Error(`the claim ended: ${state.outcome}`);
          fail(error);
          reject(error);
        }
      });
    });
  });
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

/** By the number of the last request of each connection: pings have none. */
async function zooKeeperRequests({ endpoint }: OwnSite): Promise<Record<string, number>> {
  const connections = await zkFourLetter(endpoint, 'cons');
  console.log(connections.slice(0,400));
  const last = [...connections.matchAll(/lcxid=0x([0-9a-f]+)/g)].map(([, xid]) => parseInt(xid!, 16));
  return { requests: last.reduce((sum, xid) => sum + xid, 0) };
}

function difference(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const changes = Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, count]) => count !== 0));
}

function times(count: number, cost: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(cost).map(([kind, each]) => [kind, each * count]));
}
