import { expect } from 'chai';
import { etcd } from '@queuelock/etcd';
import { startEtcdCluster, type Cluster } from '@queuelock/harness/clusters';
import { BlockedLoop, expectKept } from '@queuelock/harness/blocked-loop';

// The TTL is long, so that sessions survive the election of a new leader, which takes one or two seconds.
const TTL_MS = 10_000;

describe('a holder with a blocked event loop, on an etcd cluster', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let loop: BlockedLoop;

  before(async () => {
    cluster = await startEtcdCluster();
    const options = { hosts: cluster.endpoints };
    loop = await BlockedLoop.on({
      holder: { module: import.meta.resolve('@queuelock/etcd'), backend: 'etcd', options },
      connect: () => etcd(options),
      stop: () => cluster.stop(),
    });
  });
  afterEach(() => cluster.recover());
  after(() => loop.close());

  for (const fault of ['killed', 'frozen'] as const)
    it(`keeps the lock when the leader of the cluster is ${fault} during the block`, async () => {
      const { report } = await loop.run(
        { maxBlockedMs: 90_000, ttlMs: TTL_MS, blockMs: 25_000 },
        async () => {
          const leader = await cluster.leader();
          await (fault === 'killed' ? leader.kill() : leader.freeze());
        },
      );
      expectKept(report);
    });

  it('loses the lock when the cluster has no quorum, before another client can be granted it', async () => {
    const { report, gapMs } = await loop.run(
      { maxBlockedMs: 90_000, ttlMs: TTL_MS, blockMs: 30_000, reads: true },
      async () => {
        const leader = await cluster.leader();
        const others = cluster.members.filter((member) => member !== leader);
        await Promise.all(others.map((member) => member.freeze()));
        setTimeout(() => void Promise.all(others.map((member) => member.thaw())), 15_000);
      },
    );
    expect(report).to.deep.include({ held: false, heldLater: false });
    expect(gapMs).to.be.above(0);
  });
});
