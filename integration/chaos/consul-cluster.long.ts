import { expect } from 'chai';
import { isUnsafe } from '@queuelock/harness/check/finding';
import { orSkip } from '@queuelock/harness/services/skip';
import { startConsulClusterTrial } from './consul-cluster-trial.ts';
import { stopDetoursAfter } from './detour.ts';
import type { Traveller } from './detour-trial.ts';
import { RUNS, TEST_TIMEOUT_MS, expectRight, oneByOne } from './runs.ts';
import { granted, holdNow, standIn } from './standing.ts';
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
    const trial = await orSkip(this, startConsulClusterTrial({ rule: 'overlong' }));
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
