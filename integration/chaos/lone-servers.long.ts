import { expect } from 'chai';
import { isUnsafe } from '@queuelock/harness/check/finding';
import { stopDetoursAfter } from './detour.ts';
import type { Traveller } from './detour-trial.ts';
import { strikeAllAtLoneServer } from './lone-faults.ts';
import { LONE_STORE_NAMES } from './lone-stores.ts';
import { startLoneTrial } from './lone-trial.ts';
import { orSkip } from '@queuelock/harness/services/skip';
import { RUNS, TEST_TIMEOUT_MS, expectRight, oneByOne } from './runs.ts';
import { granted, holdNow, standIn } from './standing.ts';
import { abandonTrials } from './trial.ts';

const LEAST_HOLDS = 200;

for (const store of LONE_STORE_NAMES) {
  describe(`faults on ${store} with a single server`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 120_000);
    afterEach(() => stopDetoursAfter(abandonTrials));

    it('break neither exclusion nor order nor tokens, and block no waiter', async function () {
      const trial = await orSkip(this, startLoneTrial(store));
      await oneByOne(async () => {
        await strikeAllAtLoneServer(trial);
      });
      const { numbers } = await expectRight(trial);
      expect(numbers.holds).to.be.at.least(LEAST_HOLDS);
    });

    it('(control) let two workers hold at the same time when clients rely on a heartbeat for longer than it proves', async function () {
      const trial = await orSkip(this, startLoneTrial(store, { rule: 'overlong' }));
      const [{ worker, detour }, next] = trial.travellers as [Traveller, Traveller];
      const queue = trial.queue('held');
      await holdNow(worker, queue);
      const place = await standIn(next.worker, queue);
      // Waits for a heartbeat before the fault begins. In this control, only a heartbeat makes the holder
      // believe for too long that it holds. The opening of its session does not.
      await worker.untilEvent('beat', { from: worker.events.length });
      const healed = await trial.fault('worker cut off', worker.id, async () => detour.loseAll());
      await granted(next.worker, place);
      await detour.heal();
      detour.cut();
      healed();
      const { findings } = await trial.end();
      expect(findings.filter(isUnsafe).map(({ rule }) => rule)).to.include('S2');
    });
  });
}
