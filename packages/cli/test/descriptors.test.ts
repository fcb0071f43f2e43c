import { expect } from 'chai';
import { restWithout } from '../src/run/descriptors.ts';

describe('file descriptors above 2 that a command inherits', () => {
  it('do not exist, unless queuelock passes them on purpose', () => {
    expect(restWithout([], 99)).to.deep.equal([]);
  });

  it('are replaced by /dev/null if they are strays, and stay closed otherwise', () => {
    expect(restWithout([4, 6], 99)).to.deep.equal(['ignore', 99, 'ignore', 99]);
  });
});
