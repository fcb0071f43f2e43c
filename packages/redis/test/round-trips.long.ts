import { expect } from 'chai';
import { createLockClient, type LockClient } from '@queuelock/core';
import { admitted, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';
import { Monitor } from './monitor.ts';

const TTL_MS = 300_000;

describe('the round trips on Redis', () => {
  const clients = new Clients();
  let monitor: Monitor;
  const locks: LockClient[] = [];

  function lockClient(): LockClient {
    const client = createLockClient(clients.connect(), { ttlMs: TTL_MS });
    locks.push(client);
    return client;
  }

  /** Returns a lock client with a session. The server has loaded every script before. */
  async function ready(): Promise<LockClient> {
    const client = lockClient();
    await client.run('first', async () => undefined);
    return client;
  }

  before(async () => {
    monitor = await Monitor.on(clients.operator.redis);
  });
  after(() => monitor.close());
  afterEach(async () => {
    await Promise.all(locks.splice(0).map((client) => client.close()));
  });

  it('for a free lock are one to acquire and one to release', async () => {
    const client = await ready();
    await monitor.since();
    const ownership = await client.acquire('free');
    expect((await monitor.since()).requested).to.deep.equal(['evalsha']);
    await ownership.release();
    expect((await monitor.since()).requested).to.deep.equal(['evalsha']);
  });

  it('stay at one for tryAcquire, whether the lock is free or held', async () => {
    const [one, other] = [await ready(), await ready()];
    await monitor.since();
    const ownership = await one.tryAcquire('tried');
    expect((await monitor.since()).requested).to.deep.equal(['evalsha']);
    expect(await other.tryAcquire('tried')).to.equal(undefined);
    expect((await monitor.since()).requested).to.deep.equal(['evalsha']);
    await ownership?.release();
    expect(await clients.operator.entries('tried')).to.deep.equal([]);
  });

  it('for a hand-off are one for the release and none for the waiters', async () => {
    const holder = await ready();
    const waiters = await Promise.all(Array.from({ length: 5 }, ready));
    let ownership = await holder.acquire('handed');
    const served: number[] = [];
    const next: ((place: number) => void)[] = [];
    const turns = waiters.map(() => new Promise<number>((resolve) => next.push(resolve)));
    const order: Promise<number>[] = [...turns];
    const claims = [];
    for (const [place, waiter] of waiters.entries()) {
      const claim = waiter.acquire('handed');
      claims.push(claim);
      claim.then(
        () => next[place]?.(place),
        () => undefined,
      );
      // Waits until this waiter's entry is in the queue, so that the order of the waiters is known.
      let there = 0;
      while (there < place + 2)
        there = await clients.operator.redis.zcard(clients.operator.key('line:handed'));
    }
    for (const place of waiters.keys()) {
      await monitor.since();
      await ownership.release();
      served.push(await order[place]!);
      ownership = await claims[place]!;
      const { requested: asked, published } = await monitor.since();
      expect(asked).to.deep.equal(['evalsha']);
      expect(published.filter((channel) => channel.includes(':inbox:'))).to.have.length(1);
    }
    await ownership.release();
    expect(served).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('stay at one for acquiring several locks together', async () => {
    const client = await ready();
    await client.multi(['a', 'b']).run(async () => undefined);
    await monitor.since();
    const ownership = await client.multi(['a', 'b', 'c']).acquire();
    expect((await monitor.since()).requested).to.deep.equal(['evalsha']);
    await ownership.release();
    expect(new Set((await monitor.since()).requested)).to.deep.equal(new Set(['evalsha']));
  });

  it('stay at one for a heartbeat', async () => {
    const session = await clients.session();
    await session.renew(new AbortController().signal);
    await monitor.since();
    await session.renew(new AbortController().signal);
    expect((await monitor.since()).requested).to.deep.equal(['evalsha']);
  });
});

describe('fencing tokens on Redis', () => {
  const clients = new Clients();

  it('still grow after all data of the server was deleted', async () => {
    const session = await clients.session();
    const { token } = await session.enqueue(newSpec());
    await session.close();
    await clients.empty();
    const later = await (await clients.session()).enqueue(newSpec());
    expect(later.token > token).to.equal(true);
  });

  it("still grow after the server's clock was set back", async () => {
    const session = await clients.session();
    await session.enqueue(newSpec({ queue: 'other' }));
    const { redis } = clients.operator;
    const future = String(Number(await redis.hget(clients.operator.key('meta'), 'last')) + 3_600_000_000);
    await redis.hset(clients.operator.key('meta'), 'last', future);
    const first = await session.enqueue(newSpec());
    const second = await session.enqueue(newSpec());
    expect([first.token, second.token]).to.deep.equal([BigInt(future) + 1n, BigInt(future) + 2n]);
    await session.close();
    const third = await (await clients.session()).enqueue(newSpec());
    expect(third.token).to.equal(BigInt(future) + 3n);
    expect(await admitted(third)).to.include({ admitted: true });
  });
});
