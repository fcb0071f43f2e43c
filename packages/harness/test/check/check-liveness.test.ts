import { expect } from 'chai';
import { check } from '../../src/check.ts';
import { LIMITS, expectFine, messagesIn, rulesIn } from '../../src/check/judged.ts';
import type { Limits } from '../../src/check/limits.ts';
import { HistoryBuilder, type Steps } from '../../src/check/history-builder.ts';
import { runOf } from '../../src/check/history.ts';

const HEARTBEATS = [0, 1_000, 4_000, 8_000, 12_000, 16_000, 20_000];
const handOversIn = (builder: HistoryBuilder) => check(runOf(builder.events), LIMITS).numbers.handOvers;

/** Builds a history in which worker `a` is killed at 100 ms while it holds, and `b` waits. */
const crash = (next: Omit<Steps, 'token'>): HistoryBuilder =>
  new HistoryBuilder()
    .worker('a', 0)
    .worker('b', ...HEARTBEATS)
    .attempt('a', { token: 1, queued: 10, acquired: 20 })
    .harness(100, { ev: 'killed', worker: 'a' })
    .attempt('b', { token: 2, queued: 30, ...next });

const served = (acquired: number) => ({ acquired, released: acquired + 10 });

describe('rule L1 (grants after a crash)', () => {
  it('flags a grant that is a nanosecond too late after a crash', () => {
    expectFine(crash(served(6_100)).close(30_000, 'b'));
    expect(rulesIn(crash(served(6_100 + 1e-6)).close(30_000, 'b'))).to.deep.equal(['L1']);
  });
  it('flags a run in which no waiter is granted at all', () => {
    expect(rulesIn(crash({ cancelled: 20_000 }).close(30_000, 'b'))).to.deep.equal(['L1']);
  });
  it('flags nothing when no waiter is left, or the holder died without waiters', () => {
    expectFine(crash({ cancelled: 6_000 }).close(30_000, 'b'));
    expectFine(crash({ queued: 101, acquired: 7_000, released: 7_010 }).close(30_000, 'b'));
    expectFine(crash({}).harness(3_000, { ev: 'killed', worker: 'b' }).close(30_000));
  });
  it('extends the limit for a server fault only if the fault ends after the crash', () => {
    const healed = { number: 1, what: 'member killed', target: 'etcd-1', from: 1_000, to: 3_000 };
    expectFine(crash(served(13_000)).fault(1, healed).close(30_000, 'b'));
    expect(rulesIn(crash(served(13_001)).fault(1, healed).close(30_000, 'b'))).to.deep.equal(['L1']);
    const before = { ...healed, from: 10, to: 99 };
    expect(rulesIn(crash(served(6_101)).fault(1, before).close(30_000, 'b'))).to.deep.equal(['L1']);
  });
  it('does not extend the limit for a fault of a worker that is not in the queue', () => {
    const elsewhere = { number: 1, what: 'cut off', target: 'c', from: 1_000, to: 3_000 };
    const builder = crash(served(6_101)).worker('c', 0).fault(1, elsewhere);
    expect(rulesIn(builder.close(30_000, 'b', 'c'))).to.deep.equal(['L1']);
  });
  it('allows a waiter more time for each dead waiter ahead', () => {
    const builder = new HistoryBuilder()
      .worker('a', 0)
      .worker('b', 0, 4_000)
      .worker('c', ...HEARTBEATS)
      .attempt('a', { token: 1, queued: 10, acquired: 20 })
      .attempt('b', { token: 2, queued: 30 })
      .attempt('c', { token: 3, queued: 40, acquired: 9_500, released: 9_600 })
      .harness(100, { ev: 'killed', worker: 'a' })
      .harness(4_500, { ev: 'killed', worker: 'b' });
    expectFine(builder.close(30_000, 'c'));
  });
  it('does not flag waiters behind a waiter that was granted in time', () => {
    const both = crash({ acquired: 5_000, released: 12_000 })
      .worker('c', ...HEARTBEATS)
      .attempt('c', { token: 3, queued: 40, acquired: 12_001, released: 12_002 });
    expectFine(both.close(30_000, 'b', 'c'));
  });
  it('reports the time from each kill to the next grant', () => {
    const plain = handOversIn(crash(served(5_100)).close(30_000, 'b'));
    expect(plain).to.deep.include({ crash: [5_000], crashInTrouble: [] });
    const fault = { number: 1, what: 'leader killed', target: 'etcd-1', from: 90 };
    const withFailure = handOversIn(crash(served(5_100)).fault(1, fault).close(30_000, 'b'));
    expect(withFailure).to.deep.include({ crash: [], crashInTrouble: [5_000] });
  });
});

describe('rule L2 (hand-offs without faults)', () => {
  const handOver = (acquired: number, queued = 30): HistoryBuilder =>
    new HistoryBuilder()
      .worker('a', 0)
      .worker('b', 0)
      .attempt('a', { token: 1, queued: 10, acquired: 20, released: 100 })
      .attempt('b', { token: 2, queued, acquired, released: acquired + 10 });

  it('is checked only if the run sets a limit for it', () => {
    const limits: Partial<Limits> = { handOverMs: 50 };
    expect(rulesIn(handOver(151).close(300, 'a', 'b'), limits)).to.deep.equal(['L2']);
    expectFine(handOver(150).close(300, 'a', 'b'), limits);
    expectFine(handOver(151).close(300, 'a', 'b'));
  });
  it('measures the time from a release to the grant of a claim that was waiting before the release', () => {
    expect(handOversIn(handOver(103).close(300, 'a', 'b')).clean).to.deep.equal([3]);
    expect(handOversIn(handOver(103, 101).close(300, 'a', 'b')).clean).to.deep.equal([]);
  });
  it('ignores hand-offs during a fault, and hand-offs that skip the entry of a dead process', () => {
    const fault = { number: 1, what: 'leader killed', target: 'etcd-1', from: 90, to: 102 };
    expect(handOversIn(handOver(103).fault(1, fault).close(300, 'a', 'b')).clean).to.deep.equal([]);
    const dead = new HistoryBuilder()
      .worker('a', 0)
      .worker('b', 0)
      .worker('c', 0, 4_000)
      .attempt('a', { token: 1, queued: 10, acquired: 20, released: 100 })
      .attempt('b', { token: 2, queued: 30 })
      .attempt('c', { token: 3, queued: 31, acquired: 5_100, released: 5_110 })
      .harness(50, { ev: 'killed', worker: 'b' });
    expect(handOversIn(dead.close(6_000, 'a', 'c')).clean).to.deep.equal([]);
  });
});

describe('rule L3 (no waiter is left waiting)', () => {
  const calm = (steps: Omit<Steps, 'token'>): HistoryBuilder =>
    new HistoryBuilder()
      .worker('a', ...HEARTBEATS)
      .worker('b', ...HEARTBEATS)
      .attempt('a', { token: 1, queued: 10, acquired: 20, released: 1_100 })
      .harness(1_000, { ev: 'calm' })
      .attempt('b', { token: 2, queued: 30, ...steps });
  const end = (builder: HistoryBuilder): HistoryBuilder => {
    for (const worker of ['a', 'b'])
      builder.harness(24_000, { ev: 'exited', worker, clean: true, tookMs: 1 });
    return builder.harness(24_000, { ev: 'end' });
  };
  /**
   * The latest time in milliseconds at which an attempt may end by rule L3. It is the sum of the time of the
   * event `calm`, `settleMs` (10 s), `holdMs` for the attempt and for its predecessor, and `crashMs`.
   */
  const ALLOWED = 1_000 + 10_000 + 2 * 200 + 6_000;

  it('flags an attempt that ends too late after all faults are over', () => {
    expectFine(end(calm({ acquired: 1_200, released: ALLOWED })));
    expect(rulesIn(end(calm({ acquired: 1_200, released: ALLOWED + 1 })))).to.deep.equal(['L3']);
  });
  it('flags attempts that still join, wait, hold or release at the end of the run', () => {
    expect(messagesIn(end(calm({}))).join()).to.contain('b#1 still waits');
    expect(messagesIn(end(calm({ acquired: 1_200 }))).join()).to.contain('b#1 still holds');
    const joins = new HistoryBuilder().worker('a', 0).attempt('a', { token: 1, enqueue: 10 }).close(300, 'a');
    expect(messagesIn(joins).join()).to.contain('a#1 still joins');
    const releases = calm({ acquired: 1_200, released: 1_300 });
    releases.events.splice(
      releases.events.findIndex(({ who, ev }) => who === 'b' && ev === 'left'),
      1,
    );
    expect(messagesIn(end(releases)).join()).to.contain('b#1 waits for its release to be confirmed');
  });
  it('does not flag a waiter whose worker was killed before all faults were over', () => {
    expectFine(end(calm({}).harness(900, { ev: 'killed', worker: 'b' })));
  });
  it('flags a waiter whose worker was killed after all faults were over', () => {
    const rules = rulesIn(end(calm({}).harness(23_000, { ev: 'killed', worker: 'b' })));
    expect(rules).to.have.members(['L3', 'L4']);
  });
});

describe('rule L4 (nothing is left over)', () => {
  const alone = (): HistoryBuilder => new HistoryBuilder().worker('a', 0);

  it('flags keys that the run left on a server', () => {
    const builder = alone().harness(100, { ev: 'left-over', kind: 'key', what: 'q/1' }).close(300, 'a');
    expect(messagesIn(builder)).to.deep.equal(['L4: left over: key q/1']);
  });
  it('flags a process that ends with an error, later than 2 s after its close, or never', () => {
    const exit = (clean: boolean, tookMs: number): HistoryBuilder =>
      alone().harness(290, { ev: 'exited', worker: 'a', clean, tookMs }).close(300);
    expectFine(exit(true, 2_000));
    expect(rulesIn(exit(true, 2_001))).to.deep.equal(['L4']);
    expect(rulesIn(exit(false, 0))).to.deep.equal(['L4']);
    expect(rulesIn(alone().close(300))).to.deep.equal(['L4']);
  });
  it('does not flag the end of a process that the harness killed on purpose', () => {
    const builder = alone().harness(100, { ev: 'killed', worker: 'a' });
    expectFine(builder.harness(101, { ev: 'exited', worker: 'a', clean: false, tookMs: 0 }).close(300));
  });
});

describe('rule L5 (processes and event loops)', () => {
  it('flags a crash only once, and not also that the process exited with an error', () => {
    const builder = new HistoryBuilder()
      .worker('a', 0)
      .tell('a', 100, { ev: 'crashed', message: 'Error: so it is' });
    builder.harness(101, { ev: 'exited', worker: 'a', clean: false, tookMs: 0 });
    expect(messagesIn(builder.close(300))).to.deep.equal(['L5: a crashed: Error: so it is']);
  });
  it('flags a late event loop if the run sets a limit, unless the test blocked the loop', () => {
    const late = (): HistoryBuilder =>
      new HistoryBuilder().worker('a', 0).tell('a', 200, { ev: 'closed', loopDelayMs: 50 });
    const end = (builder: HistoryBuilder): HistoryBuilder =>
      builder.harness(210, { ev: 'exited', worker: 'a', clean: true, tookMs: 1 }).harness(300, { ev: 'end' });
    expectFine(end(late()));
    expect(check(runOf(end(late()).events), LIMITS).numbers.loopDelayMs).to.equal(50);
    expect(rulesIn(end(late()), { loopDelayMs: 50 })).to.deep.equal(['L5']);
    expectFine(end(late()), { loopDelayMs: 50.1 });
    expectFine(end(late().tell('a', 50, { ev: 'stalled', ms: 60 })), { loopDelayMs: 50 });
    expectFine(
      end(late().harness(50, { ev: 'frozen', worker: 'a' }).harness(60, { ev: 'thawed', worker: 'a' })),
      {
        loopDelayMs: 50,
      },
    );
  });
});

describe('rule L6 (memory)', () => {
  const heaps = (...heapBytes: number[]): HistoryBuilder => {
    const builder = new HistoryBuilder().worker('a', 0);
    for (const [i, bytes] of heapBytes.entries())
      builder.tell('a', 10 + i, { ev: 'memory', heapBytes: bytes, cycles: i * 1_000 });
    return builder.close(300, 'a');
  };

  it('flags a heap that grows with the number of attempts, although single measurements vary', () => {
    const limits: Partial<Limits> = { bytesPerCycle: 50 };
    expect(rulesIn(heaps(0, 1e6, 1.09e6, 1.17e6, 1.31e6), limits)).to.deep.equal(['L6']);
    expectFine(heaps(0, 1e6, 1.09e6, 0.98e6, 1.02e6), limits);
    expectFine(heaps(0, 1e6, 1.09e6, 1.17e6, 1.31e6));
  });
  it('ignores the growth of the heap before the second measurement', () => {
    expectFine(heaps(0, 9e6, 9e6, 9e6), { bytesPerCycle: 50 });
  });
});
