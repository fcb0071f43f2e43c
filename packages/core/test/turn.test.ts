import { expect } from 'chai';
import { turnOf } from '../src/backend.ts';

describe('whose turn it is', () => {
  for (const [ahead, limit, admitted] of [
    [0, 1, true],
    [1, 1, false],
    [2, 1, false],
    [2, 3, true],
    [3, 3, false],
  ] as const) {
    it(`with ${String(ahead)} ahead and a limit of ${String(limit)}: ${admitted ? 'mine' : 'not yet'}`, () => {
      expect(turnOf({ refs: Array.from({ length: ahead }) }, limit).admitted).to.equal(admitted);
    });
  }

  it('tells the number ahead only where it is known', () => {
    expect(turnOf({ refs: [1], total: 9 }, 1)).to.deep.equal({ admitted: false, ahead: 9 });
    expect(turnOf({ refs: [1] }, 1)).to.deep.equal({ admitted: false });
  });
});
