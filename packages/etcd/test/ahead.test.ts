import { expect } from 'chai';
import { aheadIn, suffices, type Contender } from '../src/ahead.ts';
import { rangeUnder } from '../src/keys.ts';

type Rows = Parameters<typeof aheadIn>[0];

const ID = '0123456789abcdef0123456789abcdef';
const OWN = `own-${ID}`;

function contender(shared: boolean): Contender {
  return { key: Buffer.from(`q/${OWN}`), shared, under: 'q/', range: rangeUnder('q/') };
}

/** Rows of a queue by the ends of their keys, the latest first. */
function rows(ends: readonly string[], more: boolean): Rows {
  const kvs = ends.map((end, i) => ({
    key: Buffer.from(`q/${end}`),
    create_revision: String(100 - i),
    mod_revision: '200',
    version: '1',
    value: Buffer.alloc(0),
    lease: '7',
  }));
  return {
    header: { cluster_id: '1', member_id: '1', revision: '200', raft_term: '2' },
    kvs,
    more,
    count: '99',
  };
}

const READER = `a-${ID}~r`;

describe('who is ahead, by the rows of a queue', () => {
  for (const { about, ends, shared = false, more = false, expected } of [
    { about: 'nobody when only the own row is there', ends: [OWN], expected: { refs: [], total: 0 } },
    {
      about: 'all the others, nearest first',
      ends: [OWN, 'x', 'y'],
      expected: { refs: ['x', 'y'], total: 2 },
    },
    { about: 'no key of a nested name', ends: [OWN, 'n/x', 'y'], expected: { refs: ['y'], total: 1 } },
    {
      about: 'a reader too for a writer',
      ends: [OWN, READER, 'y'],
      expected: { refs: [READER, 'y'], total: 2 },
    },
    {
      about: 'no reader for a reader',
      ends: [OWN, READER, 'y'],
      shared: true,
      expected: { refs: ['y'], total: 1 },
    },
    {
      about: 'without a total when rows are missing',
      ends: [OWN, 'x'],
      more: true,
      expected: { refs: ['x'] },
    },
  ]) {
    it(`is ${about}`, () => {
      const ahead = aheadIn(rows(ends, more), contender(shared));
      const refs = ahead.refs.map(({ key }) => key.toString().slice('q/'.length));
      expect({ ...ahead, refs }).to.deep.equal(expected);
    });
  }

  for (const ends of [[], ['x'], ['x', OWN]]) {
    it(`is a lost entry when the first of the rows [${ends.join(', ')}] is not the own one`, () => {
      expect(() => aheadIn(rows(ends, false), contender(false)))
        .to.throw()
        .with.property('code', 'ENTRY_LOST');
    });
  }

  it('suffices when it is complete, or has as many as are waited for', () => {
    const refs = aheadIn(rows([OWN, 'x', 'y'], true), contender(false)).refs;
    expect(suffices({ refs }, 2)).to.equal(true);
    expect(suffices({ refs }, 3)).to.equal(false);
    expect(suffices({ refs, total: 2 }, 3)).to.equal(true);
  });
});
