import { expect } from 'chai';
import { isUnsafe } from '@queuelock/harness/check/finding';
import { stopDetoursAfter } from './detour.ts';
import type { Traveller } from './detour-trial.ts';
import { RUNS, TEST_TIMEOUT_MS, expectRight, oneByOne } from './runs.ts';
import { startSqliteTrial } from './sqlite-trial.ts';
import { granted, holdNow, standIn } from './standing.ts';
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
    const trial = await startSqliteTrial({ rule: 'overlong' });
    const [{ worker }, next] = trial.travellers as [Traveller, Traveller];
    const queue = trial.queue('held');
    await holdNow(worker, queue);
    const place = await standIn(next.worker, queue);
    // Waits for a heartbeat before the fault begins, because in this control only a heartbeat makes the holder
    // believe for too long that it holds.
    await worker.untilEvent('beat', { from: worker.events.length });
    const healed = await trial.fault('heartbeats stopped', worker.id, async () =>
      worker.tell({ do: 'beats', sent: false }),
    );
    await granted(next.worker, place);
    worker.tell({ do: 'beats', sent: true });
    healed();
    const { findings } = await trial.end();
    expect(findings.filter(isUnsafe).map(({ rule }) => rule)).to.include('S2');
  });
});
