import { expect } from 'chai';
import { restWithout } from '../src/run/descriptors.ts';

describe('file descriptors above 2 that a command inherits', () => {
  it('are none if queuelock has no descriptor that a command would inherit unintentionally', () => {
    expect(restWithout([], 99)).to.deep.equal([]);
  });

  it('refer to /dev/null in place of each descriptor that the command would inherit unintentionally', () => {
    expect(restWithout([4, 6], 99)).to.deep.equal(['ignore', 99, 'ignore', 99]);
  });
});
