import { expect } from 'chai';
import { Tale } from './check/tale.ts';
import { runOf } from './history.ts';
import { judge } from './judge.ts';

const TERMS = { limits: { crashMs: 6_000, crashInTroubleMs: 10_000, holdMs: 10_000 }, ttlMs: 5_000 };

/** One who holds from 0 to `untilMs`, though another one is granted the lock at 1,000 ms. */
function overlapUntil(untilMs: number): Tale {
  return new Tale()
    .worker('worker-1', -5, 2_000)
    .worker('worker-2', -5, 2_000)
    .attempt('worker-1', { token: 1, queued: 0, acquired: 1, released: untilMs })
    .attempt('worker-2', { token: 2, queued: 10, acquired: 1_000, released: 1_010 });
}

function rulesOf(tale: Tale, operated: readonly string[]): string[] {
  const run = runOf(tale.close(20_000, 'worker-1', 'worker-2').events);
  return judge(run, { ...TERMS, operated: new Set(operated) }).findings.map(({ rule }) => rule);
}

const REMOVED = { what: 'holder removed', target: 'q', from: 990, to: 995 };

describe('the verdict on a run with an operator', () => {
  it('excuses who was removed, until its time is up', () => {
    expect(rulesOf(overlapUntil(3_000).fault(1, REMOVED), ['q'])).to.deep.equal([]);
  });

  it('excuses nobody who was not removed, in the same queue', () => {
    expect(rulesOf(overlapUntil(3_000).fault(1, { ...REMOVED, from: 4_000, to: 4_005 }), ['q'])).to.include(
      'S2',
    );
  });

  it('excuses nobody for longer than its time', () => {
    expect(rulesOf(overlapUntil(6_500).fault(1, REMOVED), ['q'])).to.include('S2');
  });

  it('excuses nobody in other queues', () => {
    expect(rulesOf(overlapUntil(3_000).fault(1, REMOVED), [])).to.include('S2');
  });

  it('counts what happened in all queues, and takes gaps from those that were left alone', () => {
    const run = runOf(overlapUntil(3_000).fault(1, REMOVED).close(20_000, 'worker-1', 'worker-2').events);
    const { numbers } = judge(run, { ...TERMS, operated: new Set(['q']) });
    expect(numbers.holds).to.equal(2);
    expect(numbers.gaps.released).to.deep.equal([]);
  });
});
