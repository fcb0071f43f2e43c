import { expect } from 'chai';
import { pauseLeader } from './etcd-paused-leader.ts';
import { abandonTrials } from './experiment.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';

const HOLDERS = 3;
const CONTROL_ATTEMPTS = 3;

describe('paused leader of etcd that is replaced, and replies to pending requests when it resumes', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 30_000);
  afterEach(abandonTrials);

  for (const news of ['at once', 'late'] as const) {
    it(`9: has clients that stop to believe before the next one holds, when it learns ${news} of its end`, () =>
      oneByOne(async () => {
        const experiment = await pauseLeader({ holders: HOLDERS, rule: 'product', news });
        const { numbers } = await expectRight(experiment);
        expect(numbers.gaps.lost).to.have.lengthOf(HOLDERS);
      }));
  }

  it('9 (control): has clients that believe for too long when they take every answer for a proof', async () => {
    const gaps: number[] = [];
    for (let attempt = 0; attempt < CONTROL_ATTEMPTS && !gaps.some((gap) => gap < 0); attempt += 1) {
      const experiment = await pauseLeader({ holders: HOLDERS, rule: 'plain', news: 'late' });
      const { numbers } = await experiment.end();
      gaps.push(...numbers.gaps.lost);
    }
    expect(Math.min(...gaps)).to.be.lessThan(0);
  }).timeout(CONTROL_ATTEMPTS * 30_000);
});
