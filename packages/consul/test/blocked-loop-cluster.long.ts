import { consul } from '@queuelock/consul';
import { BlockedLoop, expectKept } from '@queuelock/harness/blocked-loop';
import { startConsulCluster, type ConsulCluster } from '@queuelock/harness/services/consul-cluster';

// The TTL is long, so that sessions survive the election of a new leader, which takes some seconds.
const TTL_MS = 15_000;

describe('a holder on a Consul cluster whose event loop is blocked', function () {
  this.timeout(180_000);
  let cluster: ConsulCluster;
  let loop: BlockedLoop;

  before(async () => {
    cluster = await startConsulCluster();
    const options = { hosts: cluster.servers.map(({ endpoint }) => endpoint), minTtlMs: 1_000 };
    loop = await BlockedLoop.on({
      holder: { module: import.meta.resolve('@queuelock/consul'), backend: 'consul', options },
      connect: () => consul(options),
      stop: () => cluster.stop(),
    });
  });
  after(() => loop.close());

  it('keeps the lock when the leader of the cluster is killed', async () => {
    const { report } = await loop.run({ maxBlockedMs: 90_000, ttlMs: TTL_MS, blockMs: 40_000 }, async () => {
      await (await cluster.leader()).kill();
    });
    expectKept(report);
  });
});
