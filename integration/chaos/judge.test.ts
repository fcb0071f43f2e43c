import { expect } from 'chai';
import { HistoryBuilder } from '@queuelock/harness/check/history-builder';
import { runOf } from '@queuelock/harness/check/history';
import { judge } from './judge.ts';

const TERMS = { limits: { crashMs: 6_000, crashInTroubleMs: 10_000, holdMs: 10_000 }, ttlMs: 5_000 };

/**
 * Returns a history in which worker-1 holds from 1 ms to `untilMs`. This overlaps with the hold of worker-2,
 * which is granted the same lock at 1,000 ms.
 */
function overlapUntil(untilMs: number): HistoryBuilder {
  return new HistoryBuilder()
    .worker('worker-1', -5, 2_000)
    .worker('worker-2', -5, 2_000)
    .attempt('worker-1', { token: 1, queued: 0, acquired: 1, released: untilMs })
    .attempt('worker-2', { token: 2, queued: 10, acquired: 1_000, released: 1_010 });
}

function rulesOf(builder: HistoryBuilder): string[] {
  const run = runOf(builder.close(20_000, 'worker-1', 'worker-2').events);
  return judge(run, { ...TERMS, operated: new Set(['q']) }).findings.map(({ rule }) => rule);
}

const HOLDER = {
  what: 'holder removed',
  target: 'q',
  entries: [{ key: 'q/worker-1-1', token: '1' }],
  from: 990,
  to: 995,
};

describe('the verdict on a run in which an operator removed entries', () => {
  it('accepts an overlap with the next holder within the proven time of the removed holder', () => {
    expect(rulesOf(overlapUntil(3_000).fault(1, HOLDER))).to.deep.equal([]);
  });

  it('reports the overlap of two holders in the same queue when neither was removed', () => {
    const keys = ['q/worker-1-2', 'q/worker-2-1'].map((key) => ({ key }));
    expect(rulesOf(overlapUntil(3_000).fault(1, { ...HOLDER, entries: keys }))).to.include('S2');
    const again = [{ key: 'q/worker-1-1', token: '3' }];
    expect(rulesOf(overlapUntil(3_000).fault(1, { ...HOLDER, entries: again }))).to.include('S2');
  });

  it('reports an overlap with the next holder after the proven time of the removed holder', () => {
    expect(rulesOf(overlapUntil(6_500).fault(1, HOLDER))).to.include('S2');
  });

  describe('about a removed waiter', () => {
    const WAITER = { ...HOLDER, what: 'waiter removed' };
    /**
     * Returns a history in which a waiter receives its grant only at 1,005 ms, and the notification of its
     * removal at 1,010 ms. The next waiter was granted at 1,000 ms, and releases at `nextLeaves`.
     */
    const notifiedLate = (nextLeaves: number): HistoryBuilder =>
      new HistoryBuilder()
        .worker('worker-1', -5, 2_000)
        .worker('worker-2', -5, 2_000)
        .attempt('worker-1', { token: 1, queued: 0, acquired: 1_005, revoked: 1_010 })
        .attempt('worker-2', { token: 2, queued: 10, acquired: 1_000, released: nextLeaves });

    it('accepts a grant that the waiter receives before the notification of its removal', () => {
      expect(rulesOf(notifiedLate(1_020))).to.deep.equal(['S2', 'F1']);
      expect(rulesOf(notifiedLate(1_020).fault(1, WAITER))).to.deep.equal([]);
      expect(rulesOf(notifiedLate(1_002))).to.deep.equal(['F1']);
      expect(rulesOf(notifiedLate(1_002).fault(1, WAITER))).to.deep.equal([]);
    });

    it('accepts that the waiter leaves without a notification after a later waiter was granted', () => {
      const passed = (): HistoryBuilder =>
        new HistoryBuilder()
          .worker('worker-1', -5, 2_000)
          .worker('worker-2', -5, 2_000)
          .attempt('worker-1', { token: 1, queued: 0, cancelled: 1_500 })
          .attempt('worker-2', { token: 2, queued: 10, acquired: 1_000, released: 1_010 });
      expect(rulesOf(passed())).to.deep.equal(['F1']);
      expect(rulesOf(passed().fault(1, WAITER))).to.deep.equal([]);
    });

    it('reports violations that happened before the removal', () => {
      const after = { ...WAITER, from: 1_003, to: 1_004 };
      expect(rulesOf(notifiedLate(1_020).fault(1, after))).to.deep.equal(['S2', 'F1']);
    });
  });

  it('contains durations of hand-offs only from queues without removals', () => {
    const run = runOf(overlapUntil(3_000).fault(1, HOLDER).close(20_000, 'worker-1', 'worker-2').events);
    const { numbers } = judge(run, { ...TERMS, operated: new Set(['q']) });
    expect(numbers.holds).to.equal(2);
    expect(numbers.gaps.released).to.deep.equal([]);
  });
});
