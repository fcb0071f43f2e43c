import { expect } from 'chai';
import { stopDetoursAfter } from './detour.ts';
import { cutOff, expectTwoHolders } from './heartbeat-control.ts';
import { strikeAllAtLoneServer } from './lone-faults.ts';
import { LONE_STORE_NAMES } from './lone-stores.ts';
import { startLoneTrial } from './lone-trial.ts';
import { orSkip } from '@queuelock/harness/services/skip';
import { RUNS, TEST_TIMEOUT_MS, expectRight, oneByOne } from './runs.ts';
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
      await expectTwoHolders(await orSkip(this, startLoneTrial(store, { rule: 'overlong' })), cutOff);
    });
  });
}
