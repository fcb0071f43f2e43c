import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { EtcdOperator } from './etcd-operator.ts';
import { abandonTrials, startExperiment } from './experiment.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { holdNow, isHeld, standIn } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const LOAD = { holdMs: [0, 100], cancelShare: 0.05, abortShare: 0.02, parallel: 3 } as const;
const COMPACT_EVERY_MS = 100;
const ROUNDS = 30;

describe('etcd with continuous compaction', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 30_000);
  afterEach(abandonTrials);

  it('grants all new and waiting clients, while its members are defragmented one after another', async () => {
    const experiment = await startExperiment({ store: 'etcd', workers: 5 });
    const { cluster } = experiment;
    const [holder, waiter, ...crowd] = experiment.workers as [
      WorkerProcess,
      WorkerProcess,
      ...WorkerProcess[],
    ];
    const operators = cluster.endpoints.map((endpoint) => new EtcdOperator(endpoint));
    const busy = ['a', 'b', 'c'].map((name) => experiment.queue(name));
    for (const worker of crowd) worker.tell({ do: 'load', queues: busy, ...LOAD });
    await oneByOne(async (run) => {
      const queue = experiment.queue(`long-${run}`);
      const held = await holdNow(holder, queue);
      const waiting = await standIn(waiter, queue);
      const healed = await experiment.fault('compaction', 'store', () => operators[0]!.compact());
      for (let round = 0; round < ROUNDS; round += 1) {
        await Promise.all([operators[0]!.compact(), pause(COMPACT_EVERY_MS)]);
        if (round % 10 === 5) await operators[(round - 5) / 10]?.defragment();
      }
      expect(isHeld(holder, held), 'held').to.equal(true);
      // Compacts the history at the moment of the release. So the waiter's watch may find that the revision
      // of the release is already compacted.
      holder.tell({ do: 'release', queue });
      await Promise.all(operators.map((operator) => operator.compact()));
      await waiter.untilEvent('acquired', { queue });
      waiter.tell({ do: 'release', queue, n: waiting.n });
      healed();
    });
    for (const operator of operators) operator.close();
    await expectRight(experiment);
  });
});
