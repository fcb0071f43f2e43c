import { expect } from 'chai';
import { countSeeds, noProgress, slicesLeft, withSlice } from '../src/slices/progress.ts';

describe('the progress of a long simulation', () => {
  const nothing = { events: 0, grants: 0, violations: [] };
  const after = (...slices: readonly (readonly [number, number])[]) =>
    slices.reduce(
      (progress, [from, to]) => withSlice(progress, { from, to }, nothing),
      noProgress('etcd', 'abc'),
    );

  it('merges slices of seeds that touch or overlap', () => {
    const progress = after([10, 20], [1, 5], [20, 30], [4, 6]);
    expect(progress.played).to.deep.equal([
      { from: 1, to: 6 },
      { from: 10, to: 30 },
    ]);
    expect(countSeeds(progress)).to.equal(25);
  });

  it('returns the seeds that were not run, in slices of the given size', () => {
    expect(slicesLeft(after([3, 5], [8, 100]), { from: 1, to: 12 }, 2)).to.deep.equal([
      { from: 1, to: 3 },
      { from: 5, to: 7 },
      { from: 7, to: 8 },
    ]);
    expect(slicesLeft(after(), { from: 1, to: 4 }, 2)).to.deep.equal([
      { from: 1, to: 3 },
      { from: 3, to: 4 },
    ]);
    expect(slicesLeft(after([1, 50]), { from: 7, to: 9 }, 2)).to.deep.equal([]);
  });

  it('adds up the results of slices, with violations sorted by seed', () => {
    const one = { seed: 9, rule: 'exclusive', detail: '' };
    const other = { seed: 4, rule: 'order', detail: '' };
    const progress = withSlice(
      withSlice(noProgress('etcd', 'abc'), { from: 6, to: 10 }, { events: 5, grants: 2, violations: [one] }),
      { from: 1, to: 6 },
      { events: 7, grants: 1, violations: [other] },
    );
    expect(progress).to.include({ events: 12, grants: 3 });
    expect(progress.violations).to.deep.equal([other, one]);
  });
});
