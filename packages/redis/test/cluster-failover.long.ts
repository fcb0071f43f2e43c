import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createLockClient, type LockClient } from '@queuelock/core';
import { redis, type RedisOptions } from '@queuelock/redis';
import { until } from '@queuelock/harness/services/until';
import { startCluster, type Cluster, type Node } from './cluster.ts';

const WITHIN_MS = 60_000;
const TTL_MS = 8_000;
const LINE = '{queuelock}:line:jobs';

type Client = NonNullable<RedisOptions['client']>;

const WAYS: Readonly<Record<string, (node: Node) => RedisOptions>> = {
  url: ({ server }) => ({ url: `redis://${server.endpoint}` }),
  'npm redis': ({ server }) => ({ client: createClient({ url: `redis://${server.endpoint}` }) as Client }),
  ioredis: ({ server }) => ({ client: new Redis(`redis://${server.endpoint}`, { lazyConnect: true }) }),
};

for (const [way, optionsOf] of Object.entries(WAYS))
  describe(`a failover of a Redis Cluster shard, with clients from ${way}`, function () {
    this.timeout(2 * WITHIN_MS);
    let cluster: Cluster;
    const locks: LockClient[] = [];

    beforeEach(async () => {
      cluster = await startCluster(WITHIN_MS);
      const { first, second } = cluster;
      await second.operator.call('CLUSTER', 'REPLICATE', first.id);
      await until(
        async () => expect(await second.operator.info('replication')).to.include('master_link_status:up'),
        {
          what: 'the replica is in step',
          withinMs: WITHIN_MS,
        },
      );
    });
    afterEach(async () => {
      await Promise.all(locks.splice(0).map((made) => made.close()));
      await cluster.stop();
    });

    function client(node: Node): LockClient {
      const made = createLockClient(redis(optionsOf(node)), { ttlMs: TTL_MS });
      locks.push(made);
      return made;
    }

    async function replicated(entries: number): Promise<void> {
      await until(async () => expect(await cluster.first.operator.zcard(LINE)).to.equal(entries), {
        what: 'the entries',
        withinMs: WITHIN_MS,
      });
      expect(await cluster.first.operator.wait(1, WITHIN_MS)).to.equal(1);
    }

    async function promoted(): Promise<void> {
      await until(
        async () => expect(await cluster.second.operator.info('replication')).to.include('role:master'),
        {
          what: 'the replica is the primary',
          withinMs: WITHIN_MS,
        },
      );
    }

    it('keeps a hold and a waiter when an operator promotes the replica', async () => {
      const [holder, waiter] = [client(cluster.first), client(cluster.second)];
      const hold = await holder.acquire('jobs');
      const waiting = waiter.acquire('jobs');
      await replicated(2);
      await cluster.second.operator.call('CLUSTER', 'FAILOVER');
      await promoted();
      // The test observes the hold for longer than the TTL. The hold lasts only if its heartbeats reach the new
      // primary.
      const ends = performance.now() + TTL_MS + 2_000;
      while (performance.now() < ends) {
        expect(hold.held).to.equal(true);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await hold.release();
      const next = await waiting;
      expect(next.token > hold.token).to.equal(true);
      await next.release();
    });

    it('keeps a hold and a waiter when the primary dies and a replica is promoted', async () => {
      const [holder, waiter] = [client(cluster.second), client(cluster.second)];
      const hold = await holder.acquire('jobs');
      const waiting = waiter.acquire('jobs');
      await replicated(2);
      cluster.first.operator.disconnect();
      await cluster.first.server.kill();
      await cluster.second.operator.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
      await promoted();
      const ends = performance.now() + TTL_MS + 2_000;
      while (performance.now() < ends) {
        expect(hold.held).to.equal(true);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await hold.release();
      const next = await waiting;
      expect(next.token > hold.token).to.equal(true);
      await next.release();
    });

    it('ends the hold of a client that reaches no node, before another client is granted', async () => {
      const [holder, waiter] = [client(cluster.first), client(cluster.second)];
      const hold = await holder.acquire('jobs');
      const waiting = waiter.acquire('jobs');
      await replicated(2);
      cluster.first.operator.disconnect();
      await cluster.first.server.kill();
      await cluster.second.operator.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
      const next = await waiting;
      expect(hold.held).to.equal(false);
      expect(hold.signal.reason).to.include({ code: 'OWNERSHIP_LOST' });
      expect(next.token > hold.token).to.equal(true);
      await next.release();
    });
  });
