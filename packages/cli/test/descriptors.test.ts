import { expect } from 'chai';
import { restWithout } from '../src/run/descriptors.ts';

describe('descriptors above 2 that a command inherits', () => {
  it('are none', () => {
    expect(restWithout([], 99)).to.deep.equal([]);
  });

  it('replace a stray one with nothing, and leave closed ones closed', () => {
    expect(restWithout([4, 6], 99)).to.deep.equal(['ignore', 99, 'ignore', 99]);
  });
});
