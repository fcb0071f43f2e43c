import { expect } from 'chai';
import { restWithout } from '../src/run/descriptors.ts';

describe('what a command inherits above the three standard descriptors', () => {
  it('is nothing', () => {
    expect(restWithout([], 99)).to.deep.equal([]);
  });

  it('is nothing in place of a stray one, and the gaps stay closed', () => {
    expect(restWithout([4, 6], 99)).to.deep.equal(['ignore', 99, 'ignore', 99]);
  });
});
