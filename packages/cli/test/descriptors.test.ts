import { expect } from 'chai';
import { restWithout } from '../src/run/descriptors.ts';

describe('file descriptors above 2 that a command inherits', () => {
  it('do not exist if all descriptors of queuelock are marked as close-on-exec', () => {
    expect(restWithout([], 99)).to.deep.equal([]);
  });

  it('refer to /dev/null in place of each descriptor of queuelock that is not marked as close-on-exec', () => {
    expect(restWithout([4, 6], 99)).to.deep.equal(['ignore', 99, 'ignore', 99]);
  });
});
