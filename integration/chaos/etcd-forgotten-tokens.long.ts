import { startEtcdCluster, type Cluster } from '@queuelock/harness/clusters';
import { expect } from 'chai';
import { connectedMember } from './connected-member.ts';
import { EtcdOperator } from './etcd-operator.ts';
import { abandonTrials } from './experiment.ts';
import { etcdUrl } from '@queuelock/harness/services/etcd-transport';
import { experimentOn } from './own-cluster.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { holdNow, isHeld, leave, standIn } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const ROOT = { username: 'root', password: 'root-4711' };
const USER = { username: 'alice', password: 'wonderland-4711' };
const ADMITTED_WITHIN_MS = 5_000;

describe('etcd members that forget the auth tokens of their clients', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 60_000);
  let cluster: Cluster;

  before(async () => {
    cluster = await startEtcdCluster();
    const operator = new EtcdOperator(cluster.endpoints[0]!);
    await operator.switchOnAccessControl(ROOT, USER);
    operator.close();
  });
  afterEach(abandonTrials);
  after(() => cluster.stop());

  it('cost no holder its lock and no waiter its notification when a member restarts', async () => {
    const experiment = await experimentOn(cluster, 0);
    const url = (all: readonly string[]): string =>
      etcdUrl(`${USER.username}:${USER.password}@${all.join(',')}`);
    const [holder, waiter] = (await Promise.all([0, 1].map(() => experiment.addWorker({ url })))) as [
      WorkerProcess,
      WorkerProcess,
    ];
    await oneByOne(async (run) => {
      for (const worker of [holder, waiter]) {
        const queue = experiment.queue(`${worker.id}-${run}`);
        const held = await holdNow(holder, queue);
        const waiting = await standIn(waiter, queue);
        const member = await connectedMember(experiment, worker);
        const healed = await experiment.fault('member restarted', member.node, () => member.restart());
        await cluster.ready();
        healed();
        expect(isHeld(holder, held), 'held').to.equal(true);
        await leave(holder, held);
        await waiter.untilEvent('acquired', { queue, withinMs: ADMITTED_WITHIN_MS });
        await leave(waiter, waiting);
      }
    });
    const operator = new EtcdOperator(cluster.endpoints[0]!, ROOT);
    await operator.switchOffAccessControl();
    operator.close();
    await expectRight(experiment);
  });
});
