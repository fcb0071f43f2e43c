import { expect } from 'chai';
import { restWithout } from '../src/run/descriptors.ts';

describe('file descriptors above 2 that a command inherits', () => {
  it('are none if this process has no descriptors that a child inherits unintentionally', () => {
    expect(restWithout([], 99)).to.deep.equal([]);
  });

  it('are replaced by /dev/null if the child would inherit them unintentionally, and stay closed otherwise', () => {
    expect(restWithout([4, 6], 99)).to.deep.equal(['ignore', 99, 'ignore', 99]);
  });
});
