import { expect } from 'chai';
import { pauseLeader } from './etcd-paused-leader.ts';
import { abandonTrials } from './experiment.ts';
import { TEST_PATIENCE_MS, RUNS, expectRight, oneByOne } from './runs.ts';

const HOLDERS = 3;
const CONTROL_ATTEMPTS = 3;

describe('a leader of etcd that stands still, is replaced, and answers what it was asked meanwhile', function () {
  this.timeout(TEST_PATIENCE_MS + RUNS * 30_000);
  afterEach(abandonTrials);

  for (const news of ['at once', 'late'] as const) {
    it(`9: its clients stop to believe before the next one holds, when it hears ${news} of its end`, () =>
      oneByOne(async () => {
        const experiment = await pauseLeader({ holders: HOLDERS, rule: 'product', news });
        const { numbers } = await expectRight(experiment);
        expect(numbers.gaps.lost).to.have.lengthOf(HOLDERS);
      }));
  }

  it('9 (control): clients that take every answer for a proof believe for too long', async () => {
    const gaps: number[] = [];
    for (let attempt = 0; attempt < CONTROL_ATTEMPTS && !gaps.some((gap) => gap < 0); attempt += 1) {
      const experiment = await pauseLeader({ holders: HOLDERS, rule: 'plain', news: 'late' });
      const { numbers } = await experiment.end();
      gaps.push(...numbers.gaps.lost);
    }
    expect(Math.min(...gaps)).to.be.lessThan(0);
  }).timeout(CONTROL_ATTEMPTS * 30_000);
});
