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
      const refs = Array.from({ length: ahead }, () => ({}));
      expect(turnOf({ refs }, { limit }).admitted).to.equal(admitted);
    });
  }

  for (const [ahead, permits, admitted] of [
    [[], 5, true],
    [[1], 5, false],
    [[1], 4, true],
    [[2, 1], 2, true],
    [[2, 2], 2, false],
  ] as const) {
    it(`of 5 permits ${ahead.join(' and ') || 'none'} taken, ${String(permits)} wanted: ${admitted ? 'mine' : 'not yet'}`, () => {
      const refs = ahead.map((taken) => ({ permits: taken }));
      expect(turnOf({ refs }, { limit: 5, permits }).admitted).to.equal(admitted);
    });
  }

  it('tells the number ahead only where it is known', () => {
    expect(turnOf({ refs: [{}], total: 9 }, { limit: 1 })).to.deep.equal({ admitted: false, ahead: 9 });
    expect(turnOf({ refs: [{}] }, { limit: 1 })).to.deep.equal({ admitted: false });
  });
});
