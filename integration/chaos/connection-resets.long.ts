import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { Detour, stopDetoursAfter } from './detour.ts';
import { abandonTrials, startExperiment } from './experiment.ts';
import { STORES } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';

const RESET_EVERY_MS = 200;
const RESETTING_MS = RUNS > 1 ? 30_000 : 5_000;
const LOAD = { holdMs: [0, 50], cancelShare: 0.05, abortShare: 0.02, parallel: 2 } as const;

for (const store of STORES) {
  describe(`connections to ${store} that are reset every 200 ms`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 45_000);
    afterEach(() => stopDetoursAfter(abandonTrials));

    it('do not change the order of grants, and block no waiter forever', async () => {
      const experiment = await startExperiment({ store });
      const detour = await Detour.start(experiment.cluster);
      const workers = await Promise.all(
        [1, 2, 3].map(() => experiment.addWorker({ detour: detour.endpoints })),
      );
      const queues = ['a', 'b'].map((name) => experiment.queue(name));
      for (const worker of workers) worker.tell({ do: 'load', queues, ...LOAD });
      const everybodyHolds = (): Promise<unknown> =>
        Promise.all(workers.map((worker) => worker.untilEvent('acquired', { from: worker.events.length })));
      await everybodyHolds();
      await oneByOne(async () => {
        const before = detour.accepted;
        const healed = await experiment.fault('resets', 'network', () => resetAgainAndAgain(detour));
        healed();
        expect(detour.accepted - before).to.be.at.least(RESETTING_MS / RESET_EVERY_MS / 2);
        await everybodyHolds();
      });
      await expectRight(experiment);
    });
  });
}

async function resetAgainAndAgain(detour: Detour): Promise<void> {
  const until = performance.now() + RESETTING_MS;
  while (performance.now() < until) {
    detour.cut();
    await pause(RESET_EVERY_MS);
  }
}
