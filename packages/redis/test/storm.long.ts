import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { redis } from '@queuelock/redis';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { safely } from '@queuelock/harness/safety';
import { startRedis } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';

const CLIENTS = 6;
const LASTS_MS = 45_000;
const TTL_MS = 2_000;

/** A hold of one client. Its times are on the clock of the process that runs the test. */
interface Hold {
  readonly who: number;
  readonly token: bigint;
  readonly from: number;
  to: number;
}

/** Returns descriptions of holds that overlap, and of grants whose token did not grow. */
function faultsIn(holds: readonly Hold[]): readonly string[] {
  return holds.flatMap((hold, place) => {
    const before = holds[place - 1];
    if (!before) return [];
    const both = `${before.who} with ${before.token} and then ${hold.who} with ${hold.token}`;
    return [
      ...(hold.from < before.to ? [`at one time: ${both}`] : []),
      ...(hold.token <= before.token ? [`tokens do not grow: ${both}`] : []),
    ];
  });
}

describe('a Redis that is killed, paused and cut off', () => {
  it('grants a lock to one client at a time', async () => {
    const server = await startRedis({
      way: 'process',
      settings: { appendonly: 'yes', appendfsync: 'always' },
    });
    const proxies = await Promise.all(Array.from({ length: CLIENTS }, () => startProxy(server.endpoint)));
    const clients = proxies.map(({ endpoint }) =>
      createLockClient(redis({ url: `redis://${endpoint}`, requestTimeoutMs: 500 }), { ttlMs: TTL_MS }),
    );
    const holds: Hold[] = [];
    const ends = performance.now() + LASTS_MS;
    const working = clients.map((client, who) => work(client, { who, holds, ends }));
    let faults = 0;
    while (performance.now() < ends - 5_000) {
      await FAULTS[faults % FAULTS.length]!(server, proxies[faults % CLIENTS]!);
      faults += 1;
      await pause(300);
    }
    await Promise.all(proxies.map((proxy) => proxy.heal()));
    const before = holds.length;
    await Promise.all(working);
    const served = new Set(holds.slice(before).map(({ who }) => who));
    await safely(async () => expect(faultsIn(holds)).to.deep.equal([]));
    expect(served.size, 'all are served when the faults are over').to.equal(CLIENTS);
    expect(holds.length).to.be.greaterThan(100);
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await server.stop();
    console.log(`      ${holds.length} holds, ${faults} faults`);
  }).timeout(LASTS_MS * 4);
});

const FAULTS: readonly ((server: ProcessService, proxy: TcpProxy) => Promise<void>)[] = [
  async (_, proxy) => {
    proxy.cut();
  },
  async (_, proxy) => {
    proxy.loseNextReply();
  },
  async (server) => {
    await server.kill();
    await server.restart();
  },
  async (_, proxy) => {
    proxy.toClient.blackhole();
    await pause(700);
    await proxy.heal();
  },
  async (server) => {
    await server.freeze();
    await pause(400);
    await server.thaw();
  },
  async (_, proxy) => {
    proxy.refuse();
    proxy.cut();
    await pause(TTL_MS + 500);
    await proxy.accept();
  },
  async (_, proxy) => {
    proxy.toServer.blackhole();
    await pause(700);
    await proxy.heal();
    proxy.cut();
  },
];

async function work(
  client: LockClient,
  { who, holds, ends }: { readonly who: number; readonly holds: Hold[]; readonly ends: number },
): Promise<void> {
  while (performance.now() < ends) {
    const ownership = await client.acquire('stormy').catch(() => undefined);
    if (!ownership) continue;
    const hold: Hold = { who, token: ownership.token, from: performance.now(), to: Infinity };
    holds.push(hold);
    await held(ownership);
    hold.to = Math.min(hold.to, performance.now());
    await ownership.release().catch(() => undefined);
  }

  /** Waits while a client holds the lock: for some milliseconds, or until the hold is lost. */
  function held({ signal }: Ownership): Promise<void> {
    return pause(5 + (holds.length % 7), undefined, { signal }).catch(() => undefined);
  }
}
