import { expect } from 'chai';
import { restWithout } from '../src/run/descriptors.ts';

describe('file descriptors above 2 that a command inherits', () => {
  it('are none if queuelock has no descriptors that its command would inherit unintentionally', () => {
    expect(restWithout([], 99)).to.deep.equal([]);
  });

  it('are replaced by /dev/null if the command would inherit them unintentionally, and are closed otherwise', () => {
    expect(restWithout([4, 6], 99)).to.deep.equal(['ignore', 99, 'ignore', 99]);
  });
});
