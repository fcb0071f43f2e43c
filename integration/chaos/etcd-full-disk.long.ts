import { startEtcdCluster, type Cluster, type Member } from '@queuelock/harness/clusters';
import { expect } from 'chai';
import { connectedMember } from './connected-member.ts';
import { abandonTrials, type Experiment } from './experiment.ts';
import { experimentOn } from './own-cluster.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { until } from '@queuelock/harness/services/until';
import { holdNow, isHeld, leave, standIn, type Queued } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const DISK_MIB = 200;
const LOAD = { holdMs: [0, 100], cancelShare: 0.05, abortShare: 0.02, parallel: 2 } as const;

describe('an etcd member with a full disk', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 60_000);
  let cluster: Cluster;

  before(async function () {
    cluster = await startEtcdCluster({ diskMiB: DISK_MIB });
    if (cluster.absent.has('disk')) this.skip();
  });
  afterEach(abandonTrials);
  after(() => cluster.stop());

  for (const [whose, find] of [
    ['the connected member', connectedMember],
    ['the leader', async () => cluster.leader()],
  ] as const satisfies readonly (readonly [string, Find])[]) {
    it(`stops, but holders keep their locks and waiters are granted (the member is ${whose})`, async () => {
      const experiment = await experimentOn(cluster, 4);
      const [holder, waiter, ...crowd] = experiment.workers as [
        WorkerProcess,
        WorkerProcess,
        ...WorkerProcess[],
      ];
      const queues = [experiment.queue('busy')];
      for (const worker of crowd) worker.tell({ do: 'load', queues, ...LOAD });
      await oneByOne(async (run) => {
        const queue = experiment.queue(`held-${run}`);
        const held = await holdNow(holder, queue);
        const waiting = await standIn(waiter, queue);
        const member = await find(experiment, holder);
        const healed = await experiment.fault(`disk full, ${whose}`, member.node, () => member.fillDisk());
        await until(() => expectEnded(member), { what: `${member.node} ends`, withinMs: 30_000 });
        await handOver({ holder, held }, { waiter, waiting });
        await member.freeDisk();
        await member.start();
        await cluster.ready();
        healed();
      });
      await expectRight(experiment);
    });
  }
});

type Find = (experiment: Experiment, holder: WorkerProcess) => Promise<Member>;

async function expectEnded({ node, running }: Member): Promise<void> {
  if (running) throw new Error(`${node} still runs`);
}

/**
 * Expects that the holder still holds while a member's disk is full, after one more confirmed heartbeat. Then
 * releases the lock, and waits until the waiter has been granted it and has released it.
 */
async function handOver(
  { holder, held }: { readonly holder: WorkerProcess; readonly held: Queued },
  { waiter, waiting }: { readonly waiter: WorkerProcess; readonly waiting: Queued },
): Promise<void> {
  await holder.untilEvent('beat', { from: holder.events.length });
  expect(isHeld(holder, held), 'held').to.equal(true);
  await leave(holder, held);
  await waiter.untilEvent('acquired', { queue: held.queue, matches: ({ n }) => n === waiting.n });
  await leave(waiter, waiting);
}
