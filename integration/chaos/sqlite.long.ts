import { expect } from 'chai';
import { stopDetoursAfter } from './detour.ts';
import { expectTwoHolders, stalled } from './heartbeat-control.ts';
import { RUNS, TEST_TIMEOUT_MS, expectRight, oneByOne } from './runs.ts';
import { startSqliteTrial } from './sqlite-trial.ts';
import { abandonTrials } from './trial.ts';

const LEAST_HOLDS = 200;

describe('faults on sqlite', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 120_000);
  afterEach(() => stopDetoursAfter(abandonTrials));

  it('break neither exclusion nor order nor tokens, and block no waiter', async () => {
    const trial = await startSqliteTrial();
    await oneByOne(() => trial.strikeAll());
    const { numbers } = await expectRight(trial);
    expect(numbers.holds).to.be.at.least(LEAST_HOLDS);
  });

  it('(control) let two workers hold at the same time when clients rely on a heartbeat for longer than it proves', async () => {
    await expectTwoHolders(await startSqliteTrial({ rule: 'overlong' }), stalled);
  });
});
