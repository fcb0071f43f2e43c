import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { abandonTrials } from './experiment.ts';
import { expectRight, oneByOne } from './runs.ts';
import { cutFollowerOf } from './zookeeper-cut-follower.ts';

const OFTEN_MS = 100;
const CONTROL_ATTEMPTS = 3;

describe('a ZooKeeper follower that is cut off from its leader', function () {
  this.timeout(600_000);
  afterEach(abandonTrials);

  it('does not break exclusion when the leader never learns of the last heartbeats', () =>
    oneByOne(async () => {
      const experiment = await cutFollowerOf([
        { rule: 'product', heartbeatIntervalMs: OFTEN_MS },
        { rule: 'product' },
      ]);
      const { numbers } = await expectRight(experiment);
      expect(numbers.gaps.lost).to.have.lengthOf(2);
    }));

  it('(control) lets two clients hold together when they count the TTL from the last acknowledged heartbeat', async () => {
    const gaps: number[] = [];
    while (gaps.length < CONTROL_ATTEMPTS && !gaps.some((gap) => gap < 0)) {
      const experiment = await cutFollowerOf([{ rule: 'newest', heartbeatIntervalMs: OFTEN_MS }]);
      const { numbers } = await experiment.end();
      gaps.push(...numbers.gaps.lost);
      await rm(experiment.directory, { recursive: true });
    }
    expect(Math.min(...gaps)).to.be.lessThan(0);
  });

  it('(control) lets two clients hold together when they rely on their holds for as long as they are connected', async () => {
    const experiment = await cutFollowerOf([{ rule: 'connected' }]);
    const [holder, next] = experiment.workers;
    const { t: nextAt } = await next!.untilEvent('acquired');
    const { findings } = await experiment.end();
    const { t: answeredAt } = holder!.events.filter(({ ev }) => ev === 'beat').at(-1)!;
    expect(Number(BigInt(answeredAt) - BigInt(nextAt)) / 1e6).to.be.greaterThan(3_000);
    expect(findings.map(({ rule }) => rule)).to.include.members(['S2', 'S3']);
    await rm(experiment.directory, { recursive: true });
  });
});
