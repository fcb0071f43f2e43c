import { expect } from 'chai';
import { within } from './deadline.ts';
import { Detour, stopDetoursAfter } from './detour.ts';
import { entriesIn, untilEntries } from './entries.ts';
import { abandonTrials, startExperiment } from './experiment.ts';
import { STORES } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, repeatedlyIn } from './runs.ts';
import { granted, holdNow, leave, standIn } from './standing.ts';
import { wireOf } from './wire.ts';

const LATE_MS = 3_000;
// TTL in milliseconds. On ZooKeeper, queuelock gives up an enqueue without a response after half of the TTL,
// and the connection after two thirds. The delayed enqueue has to arrive between these two times.
const TTL_MS = 5_000;
const SENT_WITHIN_MS = 10_000;
const SETTLE_MS = 2_000;
const TURNS = 2;

for (const store of STORES) {
  describe(`a late request to ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 15_000);
    afterEach(() => stopDetoursAfter(abandonTrials));

    it('leaves no entry and blocks no waiter when it is the enqueue of a cancelled claim', async () => {
      const experiment = await startExperiment({ store });
      const wire = wireOf(store);
      await repeatedlyIn(experiment, async (run) => {
        const queue = experiment.queue(`late-${run}`);
        const detour = await Detour.start(experiment.cluster);
        const [late, other] = await Promise.all([
          experiment.addWorker({ detour: detour.endpoints, ttlMs: TTL_MS }),
          experiment.addWorker(),
        ]);
        const first = await holdNow(other, queue);
        await holdNow(late, experiment.queue(`own-${run}`));
        const delayed = detour.delayFrom(wire.enters(queue), LATE_MS);
        const healed = await experiment.fault('enqueue delayed', late.id, async () => {
          late.tell({ do: 'hold', queue });
          const request = await within(SENT_WITHIN_MS, delayed, 'the enqueue is sent');
          late.tell({ do: 'release', queue });
          await late.untilEvent('cancelled', { queue });
          expect(await entriesIn(experiment, queue)).to.deep.equal([first.key]);
          await request.forwarded();
        });
        await detour.heal();
        healed();
        // Makes several hand-offs, one after another. If the delayed enqueue arrives between two later
        // enqueues, its entry blocks only waiters that enqueue afterwards.
        let turn = first;
        for (let number = 0; number < TURNS; number += 1) {
          const next = await standIn(other, queue);
          await leave(other, turn);
          await granted(other, next, experiment.timing.ttlMs + SETTLE_MS);
          turn = next;
        }
        expect(await untilEntries(experiment, queue, 1)).to.deep.equal([turn.key]);
      });
      await expectRight(experiment);
    });
  });
}
