import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { IdleDetector, type Sign } from '../src/joins/idle-detector.ts';

describe('the detector of silent pages', () => {
  let clock: VirtualClock;
  let endedAt: number | undefined;
  const silence = (sign: Sign = 'touch'): IdleDetector =>
    new IdleDetector(sign, { clock, graceMs: 4_000 }, () => (endedAt = clock.now()));

  beforeEach(() => {
    clock = virtualClock();
    endedAt = undefined;
  });

  it('reports silence between 1 and 1.25 grace periods after the last touch', async () => {
    silence();
    await clock.advance(3_999);
    expect(endedAt).to.equal(undefined);
    await clock.advance(10_000);
    expect(endedAt).to.equal(5_000);
    expect(clock.timerCount).to.equal(0);
  });

  it('reports nothing while the page sends touches', async () => {
    const page = silence();
    for (let n = 0; n < 10; n += 1) {
      await clock.advance(3_500);
      page.touch();
    }
    expect(endedAt).to.equal(undefined);
    await clock.advance(10_000);
    expect(endedAt).to.be.within(39_000, 40_000);
  });

  it('reports silence only after the stream closes, for a client that never sends touches', async () => {
    const close = silence('stream').openStream();
    await clock.advance(60_000);
    expect(endedAt).to.equal(undefined);
    close();
    await clock.advance(10_000);
    expect(endedAt).to.be.within(64_000, 65_000);
  });

  it('reports a client that stopped sending touches although its stream still looks open', async () => {
    const page = silence('stream');
    page.openStream();
    page.touch();
    await clock.advance(10_000);
    expect(endedAt).to.equal(5_000);
  });

  it('reports no silence when the bridge process was frozen and reads a touch right after it resumes', async () => {
    const page = silence();
    clock.stall(60_000);
    await clock.advance(0);
    page.touch();
    await clock.advance(1_000);
    expect(endedAt).to.equal(undefined);
    page.stop();
    expect(clock.timerCount).to.equal(0);
  });
});
