import { expect } from 'chai';
import { pauseLeader } from './etcd-paused-leader.ts';
import { abandonTrials } from './experiment.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';

const HOLDERS = 3;
const CONTROL_ATTEMPTS = 3;

describe('a paused etcd leader that is replaced by another leader', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 30_000);
  afterEach(abandonTrials);

  for (const news of ['at once', 'late'] as const) {
    it(`does not break exclusion when it resumes and learns ${news} that it was replaced`, () =>
      oneByOne(async () => {
        const experiment = await pauseLeader({ holders: HOLDERS, rule: 'product', news });
        const { numbers } = await expectRight(experiment);
        expect(numbers.gaps.lost).to.have.lengthOf(HOLDERS);
      }));
  }

  it('(control) lets two clients hold together when they count any heartbeat response as proof of the TTL', async () => {
    const gaps: number[] = [];
    for (let attempt = 0; attempt < CONTROL_ATTEMPTS && !gaps.some((gap) => gap < 0); attempt += 1) {
      const experiment = await pauseLeader({ holders: HOLDERS, rule: 'plain', news: 'late' });
      const { numbers } = await experiment.end();
      gaps.push(...numbers.gaps.lost);
    }
    expect(Math.min(...gaps)).to.be.lessThan(0);
  }).timeout(CONTROL_ATTEMPTS * 30_000);
});
