import { expect } from 'chai';
import { check } from '../../src/check.ts';
import { LIMITS, expectFine, messagesIn, rulesIn } from '../../src/check/judged.ts';
import { STANDSTILL } from '../../src/check/standstills.ts';
import { HistoryBuilder } from '../../src/check/history-builder.ts';
import { runOf } from '../../src/check/history.ts';

const HEARTBEATS = [0, 1_000, 4_000, 8_000, 12_000, 16_000, 20_000];

/** Adds a standstill of the whole machine. Its event is recorded when it has ended, so after later events. */
const still = (builder: HistoryBuilder, from: number, to: number, number = 1): HistoryBuilder =>
  builder.fault(number, { what: STANDSTILL, target: 'machine', from, to });

/**
 * Builds a history in which worker `a` is killed at 100 ms while it holds, and worker `b` is granted the lock
 * at the time `acquired`.
 */
const crash = (acquired: number): HistoryBuilder =>
  new HistoryBuilder()
    .worker('a', 0)
    .worker('b', ...HEARTBEATS)
    .attempt('a', { token: 1, queued: 10, acquired: 20 })
    .harness(100, { ev: 'killed', worker: 'a' })
    .attempt('b', { token: 2, queued: 30, acquired, released: acquired + 10 });

const handOver = (acquired: number): HistoryBuilder =>
  new HistoryBuilder()
    .worker('a', 0)
    .worker('b', 0)
    .attempt('a', { token: 1, queued: 10, acquired: 20, released: 100 })
    .attempt('b', { token: 2, queued: 30, acquired, released: acquired + 10 });

/**
 * Builds a history in which worker `a` holds, `b` waits, and all faults end at 1,000 ms. Worker `b` releases
 * at `released`.
 */
const afterCalm = (released: number): HistoryBuilder =>
  new HistoryBuilder()
    .worker('a', 0)
    .worker('b', ...HEARTBEATS)
    .attempt('a', { token: 1, queued: 10, acquired: 20, released: 1_100 })
    .harness(1_000, { ev: 'calm' })
    .attempt('b', { token: 2, queued: 30, acquired: 1_200, released })
    .harness(24_000, { ev: 'exited', worker: 'a', clean: true, tookMs: 1 })
    .harness(24_000, { ev: 'exited', worker: 'b', clean: true, tookMs: 1 })
    .harness(24_000, { ev: 'end' });

describe('a standstill of the machine', () => {
  it("extends a waiter's time limit after a crash by exactly the standstill's length (rule L1)", () => {
    expect(rulesIn(crash(6_400).close(30_000, 'b'))).to.deep.equal(['L1']);
    expectFine(still(crash(6_400).close(30_000, 'b'), 3_000, 3_300));
    expect(rulesIn(still(crash(6_401).close(30_000, 'b'), 3_000, 3_300))).to.deep.equal(['L1']);
  });
  it('extends the limit of rule L1 only by the part after the crash', () => {
    expectFine(still(crash(6_300).close(30_000, 'b'), 0, 300));
    expect(rulesIn(still(crash(6_301).close(30_000, 'b'), 0, 300))).to.deep.equal(['L1']);
    const twice = (acquired: number): HistoryBuilder =>
      still(still(crash(acquired).close(30_000, 'b'), 3_000, 3_300), 6_200, 6_500, 2);
    expectFine(twice(6_700));
    expect(rulesIn(twice(6_701))).to.deep.equal(['L1']);
  });
  it('counts as a server fault if it is long enough for an election of a leader', () => {
    expectFine(still(crash(14_000).close(30_000, 'b'), 3_000, 4_000));
    expect(rulesIn(still(crash(14_001).close(30_000, 'b'), 3_000, 4_000))).to.deep.equal(['L1']);
  });
  it('excludes the hand-offs that it affects from rule L2 (hand-offs without faults)', () => {
    const limits = { handOverMs: 50 };
    expect(rulesIn(handOver(410).close(900, 'a', 'b'), limits)).to.deep.equal(['L2']);
    expectFine(still(handOver(410).close(900, 'a', 'b'), 105, 405), limits);
    expect(rulesIn(still(handOver(410).close(900, 'a', 'b'), 500, 800), limits)).to.deep.equal(['L2']);
  });
  it('extends the time in which waiters must be granted after all faults are over (rule L3)', () => {
    const allowed = 1_000 + 10_000 + 2 * 200 + 6_000;
    expect(rulesIn(afterCalm(allowed + 300))).to.deep.equal(['L3']);
    expectFine(still(afterCalm(allowed + 300), 5_000, 5_300));
    expect(rulesIn(still(afterCalm(allowed + 301), 5_000, 5_300))).to.deep.equal(['L3']);
    expect(rulesIn(still(afterCalm(allowed + 300), 500, 800))).to.deep.equal(['L3']);
  });
  it('does not count as a delay of an event loop (rule L5)', () => {
    const late = (): HistoryBuilder =>
      new HistoryBuilder()
        .worker('a', 0)
        .tell('a', 800, { ev: 'closed', loopDelayMs: 340 })
        .harness(810, { ev: 'exited', worker: 'a', clean: true, tookMs: 1 })
        .harness(900, { ev: 'end' });
    const limits = { loopDelayMs: 50 };
    expect(rulesIn(late(), limits)).to.deep.equal(['L5']);
    expectFine(still(late(), 300, 600), limits);
    expect(rulesIn(still(late(), 300, 590), limits)).to.deep.equal(['L5']);
  });
  it('excuses no overlap of holds, no accepted late write, and no grant out of order', () => {
    const overlap = (): HistoryBuilder =>
      handOver(99).effect('b', 110, { token: 2 }).effect('a', 115, { token: 1 });
    const past = (): HistoryBuilder =>
      crash(6_000)
        .worker('c', ...HEARTBEATS)
        .attempt('c', { token: 3, queued: 40, acquired: 5_000, released: 5_100 });
    for (const unsafe of [overlap().close(900, 'a', 'b'), past().close(30_000, 'b', 'c')]) {
      const without = messagesIn(unsafe);
      expect(without).to.not.be.empty;
      expect(messagesIn(still(unsafe, 0, 400))).to.deep.equal(without);
    }
    expect(rulesIn(still(overlap().close(900, 'a', 'b'), 0, 400))).to.include.members(['S1', 'S2', 'story']);
    expect(rulesIn(still(past().close(30_000, 'b', 'c'), 0, 400))).to.deep.equal(['F1']);
  });
  it('is counted among the faults of the run', () => {
    const { numbers } = check(runOf(still(handOver(103).close(900, 'a', 'b'), 500, 800).events), LIMITS);
    expect(numbers.faults).to.deep.equal({ [STANDSTILL]: 1 });
  });
});
