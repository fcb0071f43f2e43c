import { expect } from 'chai';
import { pageClock } from '../src/client/page-time.ts';

describe('the clock of a page', () => {
  const { now } = Date;
  let setMs = 0;

  beforeEach(() => {
    setMs = 0;
    Date.now = () => now() + setMs;
  });
  afterEach(() => {
    Date.now = now;
  });

  it('jumps ahead when a user sets the time of day forward, and does not go back when it is set back', async () => {
    const clock = pageClock();
    setMs = 3_600_000;
    const ahead = clock.now();
    expect(ahead).to.be.at.least(3_600_000 - 1);
    setMs = 0;
    const begun = performance.now();
    while (performance.now() - begun < 5) await new Promise((resolve) => setImmediate(resolve));
    expect(clock.now() - ahead).to.be.at.least(4);
  });
});
