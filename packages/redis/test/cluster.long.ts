import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createLockClient, isQueueLockError, type LockClient, type Ownership } from '@queuelock/core';
import { redis, type RedisOptions } from '@queuelock/redis';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { SlotMigration, startCluster, type Cluster, type Node } from './cluster.ts';

const WITHIN_MS = 60_000;
const META = '{queuelock}:meta';

type Client = NonNullable<RedisOptions['client']>;

/**
 * Several ways to name one node of a cluster in the options of `redis()`. Each is a function that returns the
 * options for a node.
 */
const WAYS: Readonly<Record<string, (node: Node) => RedisOptions>> = {
  url: ({ server }) => ({ url: `redis://${server.endpoint}` }),
  'createClient({ url })': ({ server }) => ({
    client: createClient({ url: `redis://${server.endpoint}` }) as Client,
  }),
  'createClient({ socket })': ({ host, port }) => ({
    client: createClient({ socket: { host, port: Number(port) } }) as Client,
  }),
  'createClient({ url, socket })': ({ server }) => ({
    client: createClient({ url: `redis://${server.endpoint}`, socket: { keepAlive: true } }) as Client,
  }),
  'new Redis(url)': ({ server }) => ({
    client: new Redis(`redis://${server.endpoint}`, { lazyConnect: true }),
  }),
  'new Redis({ host, port })': ({ host, port }) => ({
    client: new Redis({ host, port: Number(port), lazyConnect: true, readOnly: true }),
  }),
};

describe('a Redis Cluster', () => {
  let cluster: Cluster;
  const locks: LockClient[] = [];

  beforeEach(async () => {
    cluster = await startCluster(WITHIN_MS);
  });
  afterEach(async () => {
    await Promise.all(locks.splice(0).map((made) => made.close()));
    await cluster.stop();
  });

  function client(options: RedisOptions, ttlMs = 10_000): LockClient {
    const made = createLockClient(redis(options), { ttlMs });
    locks.push(made);
    return made;
  }

  it('can be used through the address of a node that does not store the keys', async () => {
    for (const [way, optionsOf] of Object.entries(WAYS)) {
      const [holder, waiter] = [client(optionsOf(cluster.second)), client(optionsOf(cluster.first))];
      const hold = await holder.acquire('jobs');
      const waiting = waiter.acquire('jobs');
      while ((await cluster.first.operator.zcard('{queuelock}:line:jobs')) < 2);
      await hold.release();
      const next = await waiting;
      expect(next.token > hold.token, way).to.equal(true);
      await next.release();
    }
  }).timeout(WITHIN_MS);

  it('serves the first call after the slot has moved to another node', async () => {
    const backend = redis({ url: `redis://${cluster.first.server.endpoint}` });
    const session = await backend.open(10_000, signal);
    const migration = await SlotMigration.begin(cluster, META);
    await migration.end();
    await session.renew(signal);
    expect((await session.enqueue(newSpec())).turn.admitted).to.equal(true);
    await session.close();
    await backend.close();
  }).timeout(WITHIN_MS);

  it('rejects requests without a change while the slot of their keys migrates', async () => {
    const backend = redis({ url: `redis://${cluster.first.server.endpoint}`, requestTimeoutMs: 200 });
    const session = await backend.open(30_000, signal);
    await session.enqueue(newSpec({ queue: 'there' }));
    const migration = await SlotMigration.begin(cluster, META);
    const state = async (): Promise<unknown> =>
      Promise.all([cluster.first, cluster.second].map(({ operator }) => operator.call('DEBUG', 'DIGEST')));
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      'enqueue in a queue that is there': () => session.enqueue(newSpec({ queue: 'there' })),
      'enqueue in a new queue': () => session.enqueue(newSpec({ queue: 'new' })),
      'tryEnqueue in a new queue': () => session.tryEnqueue(newSpec({ queue: 'new' })),
      renew: () => session.renew(signal),
    };
    // Runs every step before any key has migrated to the other node, and again after the migration of each
    // key.
    for (;;) {
      const before = await state();
      for (const [step, take] of Object.entries(steps)) {
        const { code, message } = await refusal(take());
        expect(code, step).to.equal('UNAVAILABLE');
        expect(message, step).to.contain('the cluster migrates the slot of these keys');
        expect(await state(), step).to.deep.equal(before);
      }
      const [next] = await migration.keys();
      if (next === undefined) break;
      await migration.move([next]);
    }
    await migration.end();
    await session.renew(signal);
    expect((await session.tryEnqueue(newSpec({ queue: 'there' })))?.turn.admitted).to.equal(undefined);
    await session.close();
    await backend.close();
  }).timeout(WITHIN_MS);

  it('hands off a lock although the slot has migrated while one client holds and another waits', async () => {
    const [holder, waiter, third] = [cluster.first, cluster.first, cluster.second].map(({ server }) =>
      client({ url: `redis://${server.endpoint}` }),
    );
    const hold = await holder!.acquire('jobs');
    const waiting = waiter!.acquire('jobs');
    while ((await cluster.first.operator.zcard('{queuelock}:line:jobs')) < 2);
    const migration = await SlotMigration.begin(cluster, META);
    const keys = await migration.keys();
    await migration.move(keys.slice(0, Math.ceil(keys.length / 2)));
    // The request of `tryAcquire` is sent while the hash slot migrates, and gets its reply after the end of
    // the migration.
    const busy = third!.tryAcquire('jobs');
    await migration.end();
    expect(await busy).to.equal(undefined);
    expect(hold.held).to.equal(true);
    await hold.release();
    const next = await waiting;
    expect(next.token > hold.token).to.equal(true);
    expect(hold.held).to.equal(false);
    await next.release();
  }).timeout(WITHIN_MS);

  it('never lets two clients hold while its slot moves back and forth for a minute', async () => {
    // A primary that has lost its last hash slot becomes a replica, so each primary keeps one hash slot.
    for (const { operator } of [cluster.second, cluster.first])
      await operator.call('CLUSTER', 'SETSLOT', '0', 'NODE', cluster.second.id);
    const ends = performance.now() + 60_000;
    const isOver = (): boolean => performance.now() > ends;
    const moving = (async () => {
      for (let [from, to] = [cluster.first, cluster.second]; !isOver(); [from, to] = [to, from]) {
        const migration = await SlotMigration.begin({ ...cluster, first: from, second: to }, META);
        const keys = await migration.keys();
        await migration.move(keys.slice(0, Math.ceil(keys.length / 2)));
        await migration.end();
        // A client reconnects at most twice a second, so it could not follow a hash slot that moves more
        // often.
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      }
    })();
    const grants: Record<string, number> = {};
    const failures: string[] = [];
    const contenders = Object.entries(WAYS).flatMap(([way, optionsOf]) => {
      const holds = new Set<Ownership>();
      return [cluster.first, cluster.second].map(async (node) => {
        const own = client(optionsOf(node), 6_000);
        while (!isOver()) {
          try {
            const hold = await own.acquire(way, { timeoutMs: 20_000 });
            for (const other of holds) if (other.held && hold.held) failures.push(`two hold ${way}`);
            holds.add(hold);
            await new Promise((resolve) => setTimeout(resolve, 50));
            hold.signal.throwIfAborted();
            await hold.release();
            holds.delete(hold);
            grants[way] = (grants[way] ?? 0) + 1;
          } catch (error) {
            // On a busy machine, a migration may last so long that a session ends. The test then prints the
            // reason.
            const isLoss = isQueueLockError(error) && (error.retryable || error.code === 'OWNERSHIP_LOST');
            if (!isLoss) failures.push(`${way}: ${String(error)}`);
          }
        }
      });
    });
    await Promise.all([moving, ...contenders]);
    expect(failures).to.deep.equal([]);
    for (const way of Object.keys(WAYS)) expect(grants[way], way).to.be.greaterThan(20);
  }).timeout(4 * WITHIN_MS);
});
