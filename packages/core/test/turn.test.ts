import { expect } from 'chai';
import fc from 'fast-check';
import { LocalWaiters, entriesAheadWithout, turnOf } from '../src/backend.ts';
import { remembered } from '../src/turn/watch-kit.ts';

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

describe('whose turn it is after one ahead has gone', () => {
  const [near, middle, far] = [{ permits: 1 }, { permits: 1 }, { permits: 1 }];
  const lock = { limit: 1 };

  it('is mine without another look, where the one that went was the only one ahead', () => {
    expect(entriesAheadWithout({ refs: [near], total: 1 }, { ref: near, at: 7n }, lock)).to.deep.equal({
      refs: [],
      total: 0,
      seenAt: 7n,
    });
  });

  it('is not known, where one that may be gone too was ahead of it', () => {
    expect(entriesAheadWithout({ refs: [near, far], total: 2 }, { ref: near }, lock)).to.equal(undefined);
  });

  it('is not known, where not all that are ahead were seen', () => {
    expect(entriesAheadWithout({ refs: [near] }, { ref: near }, lock)).to.equal(undefined);
    expect(entriesAheadWithout({ refs: [near], total: 9 }, { ref: near }, lock)).to.equal(undefined);
  });

  it('is mine, whatever was seen ahead of one that owned the queue', () => {
    const known = entriesAheadWithout({ refs: [near, far] }, { ref: near, owned: true }, lock);
    expect(known).to.deep.equal({ refs: [], total: 0 });
  });

  it('is not known, where others stand between me and the one that owned the queue', () => {
    const ahead = { refs: [near, middle, far], total: 3 };
    expect(entriesAheadWithout(ahead, { ref: middle, owned: true }, lock)).to.equal(undefined);
  });

  it('is mine, where enough permits are left', () => {
    const ahead = { refs: [near, middle, far], total: 3 };
    const known = entriesAheadWithout(ahead, { ref: far }, { limit: 3 });
    expect(known).to.deep.equal({ refs: [near, middle], total: 2 });
    expect(entriesAheadWithout(ahead, { ref: far }, { limit: 3, permits: 2 })).to.equal(undefined);
  });
});

describe('entries that somebody here waits for', () => {
  it('are known to have owned their queue from the moment it is told', () => {
    const followed = new LocalWaiters();
    const entry = followed.follow('a');
    expect(entry.owned).to.equal(false);
    expect(followed.markOwned('a')).to.equal(true);
    expect(entry.owned).to.equal(true);
    expect(followed.follow('a').owned).to.equal(true);
  });

  it('are of no interest any more when nobody waits for them', () => {
    const followed = new LocalWaiters();
    const [one, other] = [followed.follow('a'), followed.follow('a')];
    one.unfollow();
    one.unfollow();
    expect(followed.markOwned('a')).to.equal(true);
    other.unfollow();
    expect(followed.markOwned('a')).to.equal(false);
    expect(followed.follow('a').owned).to.equal(false);
  });
});

describe('what a waiter remembers of those ahead', () => {
  it('decides as all that was seen, whoever goes of those in its way', () => {
    const taker = fc.record({ permits: fc.integer({ min: 1, max: 3 }) });
    const property = fc.property(
      fc.array(taker, { minLength: 1, maxLength: 6 }),
      fc.option(fc.nat({ max: 4 }), { nil: undefined }),
      fc.record({ limit: fc.integer({ min: 3, max: 5 }), permits: fc.integer({ min: 1, max: 3 }) }),
      fc.boolean(),
      (refs, unseen, rule, owned) => {
        const ahead = unseen === undefined ? { refs } : { refs, total: refs.length + unseen };
        const kept = remembered(ahead, rule);
        expect(turnOf(kept, rule)).to.deep.equal(turnOf(ahead, rule));
        for (const ref of kept.refs)
          expect(entriesAheadWithout(kept, { ref, owned }, rule)).to.deep.equal(
            entriesAheadWithout(ahead, { ref, owned }, rule),
          );
      },
    );
    fc.assert(property);
  });

  it('is one entry of a lock, however many were seen of a longer line', () => {
    const refs = Array.from({ length: 31 }, () => ({}));
    expect(remembered({ refs }, { limit: 1 }).refs).to.have.lengthOf(1);
    expect(remembered({ refs, total: 9_000 }, { limit: 1 }).refs).to.deep.equal(refs.slice(0, 1));
  });
});
