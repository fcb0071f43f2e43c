import { expect } from 'chai';
import { stdioWithout } from '../src/run/descriptors.ts';

describe('what a command inherits', () => {
  it('is the three standard descriptors', () => {
    expect(stdioWithout([], 99)).to.deep.equal(['inherit', 'inherit', 'inherit']);
  });

  it('is nothing in place of a stray one, and the gaps stay closed', () => {
    expect(stdioWithout([4, 6], 99)).to.deep.equal([
      'inherit',
      'inherit',
      'inherit',
      'ignore',
      99,
      'ignore',
      99,
    ]);
  });
});
