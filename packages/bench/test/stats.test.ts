import { expect } from 'chai';
import fc from 'fast-check';
import { median, medians, percentile } from '../src/stats.ts';

describe('medians and percentiles', () => {
  it('return the middle value, for an even count the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).to.equal(5);
    expect(median([4, 1, 2, 9])).to.equal(3);
    expect(median([])).to.be.NaN;
  });

  it('return for the 50th percentile a value that half of all values do not exceed', () => {
    const values = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, (all) => {
        const half = percentile(all, 0.5);
        expect(all).to.include(half);
        expect(all.filter((value) => value <= half).length).to.be.at.least(all.length / 2);
        expect(percentile(all, 1)).to.equal(Math.max(...all));
      }),
    );
  });

  it('ignore rounds without a value', () => {
    expect(medians([{ p50: 3, max: 9 }, { p50: 1 }, { p50: 2 }])).to.deep.equal({ p50: 2, max: 9 });
  });
});
