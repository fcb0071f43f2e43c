import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { onLoss, livedBetween, livedSince, stampOf, type Loss } from '../src/lived-time.ts';

const STANDSTILL_MS = 400;

describe('the measurement of the time in which a process could run', () => {
  it('does not include a standstill', async () => {
    const [from, stamp] = [performance.now(), process.hrtime.bigint()];
    standStill();
    expect(livedSince(from), 'right after it').to.be.lessThan(STANDSTILL_MS / 2);
    await pause(50);
    expect(livedSince(from), 'later').to.be.lessThan(STANDSTILL_MS / 2);
    expect(livedBetween(stamp, process.hrtime.bigint()), 'by stamps').to.be.lessThan(STANDSTILL_MS / 2);
    expect(performance.now() - from).to.be.at.least(STANDSTILL_MS);
  });

  it('includes the time before and after a standstill', async () => {
    const before = process.hrtime.bigint();
    for (let ticks = 0; ticks < 20; ticks += 1) await pause(10);
    const between = process.hrtime.bigint();
    const lived = livedBetween(before, between);
    expect(lived).to.be.greaterThan(0);
    standStill();
    await pause(50);
    expect(livedBetween(before, between)).to.be.closeTo(lived, 25);
    const after = performance.now();
    for (let ticks = 0; ticks < 20; ticks += 1) await pause(10);
    expect(livedSince(after))
      .to.be.greaterThan(0)
      .and.at.most(performance.now() - after);
  });

  it('reports a standstill when it is over', async () => {
    standStill();
    const reported: Loss[] = [];
    const unsubscribe = onLoss((loss) => reported.push(loss));
    await pause(50);
    const begun = performance.now();
    standStill();
    const over = performance.now();
    expect(longest(reported)?.lostMs ?? 0, 'what was before').to.be.lessThan(STANDSTILL_MS / 2);
    await pause(50);
    unsubscribe();
    const { from, to, lostMs } = longest(reported)!;
    expect(from).to.be.at.most(begun);
    expect(to).to.be.at.least(over);
    expect(lostMs).to.be.at.most(to - from);
    expect(lostMs).to.be.at.least(STANDSTILL_MS - 25);
  });

  it('reports a standstill to a listener that unsubscribes right after it', () => {
    const reported: Loss[] = [];
    const unsubscribe = onLoss((loss) => reported.push(loss));
    standStill();
    unsubscribe();
    expect(reported).to.have.lengthOf(1);
    standStill();
    onLoss(() => undefined)();
    expect(reported).to.have.lengthOf(1);
  });

  it('converts the times of performance.now() to stamps, to the microsecond', () => {
    const before = process.hrtime.bigint();
    const stamp = BigInt(stampOf(performance.now()));
    const after = process.hrtime.bigint();
    // Tolerates a rounding error of a microsecond.
    expect(stamp >= before - 1_000n && stamp <= after + 1_000n).to.equal(true);
  });
});

function longest(losses: readonly Loss[]): Loss | undefined {
  return [...losses].sort((a, b) => b.lostMs - a.lostMs)[0];
}

function standStill(): void {
  const until = performance.now() + STANDSTILL_MS;
  while (performance.now() < until);
}
