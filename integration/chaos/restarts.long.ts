import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { STORES } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { atLast, holdNow, isHeld, leaveIfHeld, standIn, takeTurn } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

const WITHOUT_MAJORITY_MS = RUNS > 1 ? 10_000 : 5_000;
const BETWEEN_RESTARTS_MS = RUNS > 1 ? 5_000 : 0;
const EFFECT_EVERY_MS = 50;
const LOAD = { holdMs: [0, 200], cancelShare: 0.05, abortShare: 0.02, parallel: 2 } as const;

for (const store of STORES) {
  describe(`members of ${store} that end and restart`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 60_000);
    afterEach(abandonTrials);

    it('grant nothing while there is no majority, and continue when there is one again', async () => {
      const experiment = await startExperiment({ store, workers: 3, quickTtl: true });
      const { cluster, workers } = experiment;
      const [holder, next, third] = workers as [WorkerProcess, WorkerProcess, WorkerProcess];
      await oneByOne(async (run) => {
        const [lost, released, fresh] = queuesOf(experiment, run, ['lost', 'released', 'fresh']);
        const held = await holdNow(holder, lost, EFFECT_EVERY_MS);
        await standIn(next, lost);
        const { n } = await holdNow(next, released);
        await standIn(third, released);
        const leader = await cluster.leader();
        const dying = [leader, cluster.others(leader)[run % 2]!];
        const from = workers.map(({ events }) => events.length);
        const healed = await experiment.fault('majority killed', 'store', () =>
          Promise.all(dying.map((member) => member.kill())),
        );
        next.tell({ do: 'release', queue: released, n });
        third.tell({ do: 'hold', queue: fresh });
        await Promise.all([holder.untilEvent('revoked', { queue: lost }), pause(WITHOUT_MAJORITY_MS)]);
        expect(isHeld(holder, held), 'held').to.equal(false);
        const reports = workers.flatMap(({ events }, index) => events.slice(from[index]));
        expect(reports.map(({ ev }) => ev)).to.not.include('acquired');
        await Promise.all(dying.map((member) => member.start()));
        await cluster.ready();
        healed();
        await Promise.all(workers.map((worker) => takeTurn(worker, lost)));
      });
      await expectRight(experiment);
    });

    it('block no waiter when they restart one after another', async () => {
      const experiment = await startExperiment({ store, workers: 4 });
      const { cluster, workers } = experiment;
      const [holder, next, ...busy] = workers as [WorkerProcess, WorkerProcess, ...WorkerProcess[]];
      const queues = queuesOf(experiment, 0, ['a', 'b', 'c']);
      for (const worker of busy) worker.tell({ do: 'load', queues, ...LOAD });
      await oneByOne(async (run) => {
        const [queue] = queuesOf(experiment, run + 1, ['held']);
        const held = await holdNow(holder, queue, EFFECT_EVERY_MS);
        await standIn(next, queue);
        for (const member of cluster.members) {
          const healed = await experiment.fault('member restarted', member.node, () => member.restart());
          await cluster.ready();
          healed();
          await pause(BETWEEN_RESTARTS_MS);
        }
        await leaveIfHeld(holder, held);
        await Promise.all([holder, next].map((worker) => takeTurn(worker, queue)));
      });
      for (const worker of busy) await worker.untilEvent('acquired', { from: worker.events.length });
      await expectRight(experiment);
    });

    it('keep the entry of a dead holder for at least one TTL after all members restart together', async () => {
      const experiment = await startExperiment({ store, workers: 2 });
      const { cluster, workers } = experiment;
      const [holder, next] = workers as [WorkerProcess, WorkerProcess];
      await oneByOne(async (run) => {
        const dead = await experiment.addWorker();
        const [held, orphaned] = queuesOf(experiment, run, ['held', 'orphaned']);
        await holdNow(holder, held, EFFECT_EVERY_MS);
        await standIn(next, held);
        await holdNow(dead, orphaned, EFFECT_EVERY_MS);
        const eventCount = next.events.length;
        next.tell({ do: 'hold', queue: orphaned });
        const healed = await experiment.fault('all members killed', 'store', () =>
          Promise.all([dead.kill(), ...cluster.members.map((member) => member.kill())]),
        );
        const startedAt = BigInt(stampNow());
        await Promise.all(cluster.members.map((member) => member.start()));
        await cluster.ready();
        healed();
        const { t } = await atLast(next, { ev: 'acquired', queue: orphaned, from: eventCount });
        const afterMs = Number(BigInt(t) - startedAt) / 1e6;
        expect(afterMs).to.be.at.least(experiment.timing.ttlMs);
        await Promise.all([holder, next].map((worker) => takeTurn(worker, held)));
      });
      await expectRight(experiment);
    });
  });
}

function queuesOf<const N extends readonly string[]>(
  experiment: Experiment,
  run: number,
  names: N,
): { [I in keyof N]: string } {
  return names.map((name) => experiment.queue(`${name}-${run}`)) as { [I in keyof N]: string };
}
