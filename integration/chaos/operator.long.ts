import { expect } from 'chai';
import { livedBetween } from '@queuelock/harness/lived-time';
import { until } from '@queuelock/harness/services/until';
import type { AttemptEvent, ChaosEvent } from '@queuelock/harness/check/event';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { keysBelow, removeDirectories, removeEntry } from './operator.ts';
import { STORES } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne, repeatedly } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

/** Longest time in milliseconds from the removal of an entry until its client is notified. */
const NOTICED_WITHIN_MS = 1_000;
const LIMITS = { evictionMs: NOTICED_WITHIN_MS };
const WAITERS = 3;
/** Directory in which queuelock keeps data that belongs to no single queue. */
const PRIVATE = '.queuelock';

type Ended = Extract<AttemptEvent, { ev: 'revoked' | 'failed' }>;

for (const store of STORES) {
  describe(`the removal of entries by an operator, on three members of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 20_000);
    afterEach(abandonTrials);

    it('is reported to the client of the entry within 1 s', async () => {
      const experiment = await startExperiment({ store, limits: LIMITS });
      const { cluster } = experiment;
      const crew = await gather(experiment);
      await repeatedly(async (run) => {
        const { queue, holder, line } = await lineUp(crew, experiment.queue(`queue-${run}`));
        const [first, middle, last] = line as [Place, Place, Place];

        const remove = (place: Place): Promise<void> =>
          removing(experiment, { queue, entries: [place] }, () => removeEntry(cluster, place));
        const failed = await endOf(middle, () => remove(middle));
        expect(failed).to.include({ ev: 'failed', code: 'ENTRY_LOST' });
        const revoked = await endOf(holder, () => remove(holder));
        expect(revoked).to.include({ ev: 'revoked', reason: 'entry-removed' });

        await untilHeld(first, queue);
        expect(last.worker.openAttempts.find(({ n }) => n === last.n)?.ev).to.equal('queued');
        first.worker.tell({ do: 'release', queue, n: first.n });
        await untilHeld(last, queue);
      });
      await expectRight(experiment);
    });

    if (store !== 'etcd') return;
    it('ends every wait with a reason when the whole queue is removed', async () => {
      const experiment = await startExperiment({ store, limits: LIMITS });
      const crew = await gather(experiment);
      await oneByOne(async (run) => {
        const before = await lineUp(crew, experiment.queue(`queue-${run}`));
        const { queue } = before;
        await giveUpWithoutResponse(experiment, crew.waiting, experiment.queue(`given-up-${run}`));

        const places = [before.holder, ...before.line];
        const removed = removing(experiment, { queue, entries: places }, () =>
          removeDirectories(experiment.cluster, [queue, PRIVATE]),
        );
        const ends = await Promise.all(places.map((place) => endOf(place, () => removed)));
        const [ofHolder, ofNext, ...others] = ends.map((end) =>
          end.ev === 'failed' ? end.code : end.reason,
        );
        expect(ofHolder).to.equal('entry-removed');
        // The operator removed the entries of the holder and of the waiter behind it. The waiter's wait
        // fails, or the waiter is granted the lock and then loses it. It is granted if it learns of the
        // removal of the holder's entry first.
        expect(ofNext).to.be.oneOf(['ENTRY_LOST', 'entry-removed']);
        expect(others).to.deep.equal(before.line.slice(1).map(() => 'ENTRY_LOST'));

        const after = await lineUp(crew, queue);
        expect(BigInt(after.holder.token) > BigInt(before.line.at(-1)!.token)).to.equal(true);
        crew.holding.tell({ do: 'release', queue });
        for (const place of after.line) {
          await untilHeld(place, queue);
          place.worker.tell({ do: 'release', queue, n: place.n });
        }
      });
      await expectRight(experiment);
    });
  });
}

interface Crew {
  readonly holding: WorkerProcess;
  /** A worker with a separate session for each of its entries. */
  readonly waiting: WorkerProcess;
}

interface Place {
  readonly worker: WorkerProcess;
  readonly n: number;
  readonly key: string;
  readonly token: string;
}

interface Line {
  readonly queue: string;
  readonly holder: Place;
  readonly line: readonly Place[];
}

async function gather(experiment: Experiment): Promise<Crew> {
  const [holding, waiting] = await Promise.all([
    experiment.addWorker(),
    experiment.addWorker({ clients: WAITERS }),
  ]);
  return { holding, waiting };
}

async function lineUp({ holding, waiting }: Crew, queue: string): Promise<Line> {
  const holder = await join(holding, queue);
  await untilHeld(holder, queue);
  const line: Place[] = [];
  while (line.length < WAITERS) line.push(await join(waiting, queue));
  return { queue, holder, line };
}

async function join(worker: WorkerProcess, queue: string): Promise<Place> {
  const from = worker.events.length;
  worker.tell({ do: 'hold', queue, effectEveryMs: 100 });
  const { n, key, token } = await worker.untilEvent('queued', { queue, from });
  return { worker, n, key, token };
}

async function untilHeld({ worker, n }: Place, queue: string): Promise<void> {
  await worker.untilEvent('acquired', { queue, matches: (event) => event.n === n });
}

async function removing(
  experiment: Experiment,
  { queue, entries }: { readonly queue: string; readonly entries: readonly Place[] },
  remove: () => Promise<void>,
): Promise<void> {
  const healed = await experiment.fault('entries removed', queue, remove, {
    entries: entries.map(({ key, token }) => ({ key, token })),
  });
  healed();
}

/**
 * Performs the removal of a worker's entry, and returns how the worker's claim ended because of it. The claim
 * has to end within a second.
 */
async function endOf({ worker, n }: Place, action: () => Promise<void>): Promise<Ended> {
  const isEnd = (event: ChaosEvent): boolean =>
    (event.ev === 'revoked' || event.ev === 'failed') && event.n === n;
  await action();
  const doneAt = stampNow();
  const end = await worker.until<Ended>(isEnd, { what: 'the end of its place' });
  expect(livedBetween(doneAt, end.t)).to.be.lessThan(NOTICED_WITHIN_MS);
  return end;
}

/**
 * Makes the worker give up a wait while it does not know whether its enqueue was executed. Its session then
 * keeps a key in etcd. With this key etcd refuses the enqueue if it arrives later.
 */
async function giveUpWithoutResponse(
  experiment: Experiment,
  worker: WorkerProcess,
  queue: string,
): Promise<void> {
  const { cluster } = experiment;
  const cut = { from: worker.place!, as: 'reset' } as const;
  const from = worker.events.length;
  const healed = await experiment.fault('client cut off', worker.id, () =>
    Promise.all(cluster.members.map((member) => member.cut(cut))),
  );
  worker.tell({ do: 'hold', queue });
  await worker.untilEvent('enqueue', { queue, from });
  worker.tell({ do: 'release', queue });
  await worker.untilEvent('cancelled', { queue, from });
  await Promise.all(cluster.members.map((member) => member.heal()));
  healed();
  await until(async () => expect(await keysBelow(cluster, PRIVATE)).to.have.lengthOf(1), {
    what: 'the session has its private key',
    withinMs: 5_000,
  });
}
