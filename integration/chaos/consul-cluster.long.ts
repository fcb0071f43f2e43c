import { expect } from 'chai';
import { orSkip } from '@queuelock/harness/services/skip';
import { startConsulClusterTrial } from './consul-cluster-trial.ts';
import { stopDetoursAfter } from './detour.ts';
import { cutOff, expectTwoHolders } from './heartbeat-control.ts';
import { RUNS, TEST_TIMEOUT_MS, expectRight, oneByOne } from './runs.ts';
import { abandonTrials } from './trial.ts';

const LEAST_HOLDS = 100;

describe('faults on consul with three servers', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 240_000);
  afterEach(() => stopDetoursAfter(abandonTrials));

  it('break neither exclusion nor order nor tokens, and block no waiter', async function () {
    const trial = await orSkip(this, startConsulClusterTrial());
    await oneByOne(() => trial.strikeAll());
    const { numbers } = await expectRight(trial);
    expect(numbers.holds).to.be.at.least(LEAST_HOLDS);
  });

  it('(control) let two workers hold at the same time when clients rely on a heartbeat for longer than it proves', async function () {
    await expectTwoHolders(await orSkip(this, startConsulClusterTrial({ rule: 'overlong' })), cutOff);
  });
});
