import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { livedBetween } from '@queuelock/harness/lived-time';
import { isRefusal } from './effects-zookeeper.ts';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { expectRight, oneByOne } from './runs.ts';

const NOTIFIED_WITHIN_MS = 1_000;
const LOAD_MS = 5_000;

describe('a queue in ZooKeeper that an operator removes', function () {
  this.timeout(300_000);
  let wire: ZooKeeperWire;
  afterEach(async () => {
    wire.close();
    await abandonTrials();
  });

  async function start(): Promise<Experiment> {
    const experiment = await startExperiment({ store: 'zookeeper', workers: 3 });
    wire = await ZooKeeperWire.open(experiment.cluster.endpoints[0]!);
    return experiment;
  }

  it('notifies its waiters without delay when it is removed together with its parent', () =>
    oneByOne(async () => {
      const experiment = await start();
      const { workers } = experiment;
      const parent = experiment.queue('parent');
      const queue = experiment.queue('parent/child');
      const [holder] = workers;
      let token = -1n;
      for (const round of ['first', 'second']) {
        const from = workers.map(({ events }) => events.length);
        for (const [index, worker] of workers.entries()) {
          worker.tell({ do: 'hold', queue, effectEveryMs: 50 });
          await worker.untilEvent('queued', { queue, from: from[index]! });
        }
        const { token: given } = await holder!.untilEvent('acquired', { queue, from: from[0]! });
        expect(BigInt(given) > token, `the token of the ${round} holder is larger`).to.equal(true);
        token = BigInt(given);
        const healed = await experiment.fault('queue removed', queue, () => removeAll(wire, `/${parent}`));
        const removedAt = process.hrtime.bigint();
        const ends = await Promise.all(
          workers.map((worker, index) =>
            worker.until(
              (event) => (event.ev === 'revoked' || event.ev === 'failed') && event.queue === queue,
              { from: from[index]! },
            ),
          ),
        );
        healed();
        expect(
          ends.map((end) => ('code' in end ? end.code : end.ev === 'revoked' && end.reason)),
        ).to.deep.equal(['entry-removed', 'ENTRY_LOST', 'ENTRY_LOST']);
        for (const { t } of ends) expect(livedBetween(removedAt, t)).to.be.lessThan(NOTIFIED_WITHIN_MS);
      }
      await expectRight(experiment);
    }));

  it('blocks no client when the operator removes the queue each time it is empty', () =>
    oneByOne(async () => {
      const experiment = await start();
      const queues = ['a', 'b', 'c', 'd'].map((name) => experiment.queue(name));
      const load = { do: 'load', queues, holdMs: [0, 2], cancelShare: 0.05, abortShare: 0.02 } as const;
      const healed = await experiment.fault('empty queues removed', 'store', async () => {
        for (const worker of experiment.workers) worker.tell(load);
      });
      const until = performance.now() + LOAD_MS;
      let removed = 0;
      while (performance.now() < until) {
        for (const queue of queues) removed += (await removeEmpty(wire, `/${queue}`)) ? 1 : 0;
        await pause(1);
      }
      healed();
      await expectRight(experiment);
      expect(removed).to.be.greaterThan(10);
    }));
});

/**
 * Removes the nodes below a path, and the path. The latest entries come first, so that no removal admits a
 * waiter.
 */
async function removeAll(wire: ZooKeeperWire, path: string): Promise<void> {
  const names = await wire.children(path);
  const bySequence = names.sort((a, b) => Number(b.slice(-10)) - Number(a.slice(-10)));
  for (const name of bySequence) await removeAll(wire, `${path}/${name}`);
  // Ignores a missing directory: ZooKeeper itself removes a directory some time after it became empty.
  await wire.delete(path).catch((error: unknown) => {
    if (!isRefusal(error, 'noNode')) throw error;
  });
}

async function removeEmpty(wire: ZooKeeperWire, path: string): Promise<boolean> {
  try {
    await wire.delete(path);
    return true;
  } catch (error) {
    if (isRefusal(error, 'notEmpty') || isRefusal(error, 'noNode')) return false;
    throw error;
  }
}
