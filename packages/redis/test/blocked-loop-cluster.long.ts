import { expect } from 'chai';
import { BlockedLoop, expectKept } from '@queuelock/harness/blocked-loop';
import { until } from '@queuelock/harness/services/until';
import { redis } from '@queuelock/redis';
import { startCluster, type Cluster } from './cluster.ts';

const WITHIN_MS = 60_000;
const TTL_MS = 10_000;

describe('a holder with a blocked event loop on Redis Cluster', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let loop: BlockedLoop;

  before(async () => {
    cluster = await startCluster(WITHIN_MS);
    const { first, second } = cluster;
    await second.operator.call('CLUSTER', 'REPLICATE', first.id);
    const isInStep = async (): Promise<void> => {
      expect(await second.operator.info('replication')).to.include('master_link_status:up');
    };
    await until(isInStep, { what: 'the replica is in step', withinMs: WITHIN_MS });
    const options = { url: `redis://${first.server.endpoint}` };
    loop = await BlockedLoop.on({
      holder: { module: import.meta.resolve('@queuelock/redis'), backend: 'redis', options },
      connect: () => redis(options),
      stop: () => cluster.stop(),
    });
  });
  after(() => loop.close());

  it('keeps the lock when an operator promotes the replica meanwhile', async () => {
    const block = { maxBlockedMs: 90_000, ttlMs: TTL_MS, blockMs: 25_000 };
    const { report } = await loop.run(block, async () => {
      const { second } = cluster;
      await second.operator.call('CLUSTER', 'FAILOVER');
      const isPromoted = async (): Promise<void> => {
        expect(await second.operator.info('replication')).to.include('role:master');
      };
      await until(isPromoted, { what: 'the replica is promoted', withinMs: WITHIN_MS });
    });
    expectKept(report);
  });
});
