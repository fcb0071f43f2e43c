import { expect } from 'chai';
import { aheadIn, otherLimitIn, suffices, type Contender, type QueueRows } from '../src/queue/ahead.ts';

const ID = '0123456789abcdef0123456789abcdef';
const OWN = `own-${ID}`;

function contender(shared: boolean): Contender {
  return { key: Buffer.from(`q/${OWN}`), shared, under: 'q/', markDirectory: 'marks/' };
}

interface Stored {
  /** The names of the entries that have marks. */
  readonly marks?: readonly string[];
  readonly more?: boolean;
  /** Number of the newest rows that get the same create revision, as the entries of one transaction have. */
  readonly together?: number;
}

/** Creates the rows that a read of a queue returns. Each text is the end of a key. The newest key comes first. */
function rows(ends: readonly string[], { marks = [], more = false, together = 1 }: Stored = {}): QueueRows {
  const range = (keys: readonly string[]): QueueRows['latest'] => ({
    header: { revision: '200', raft_term: '2' },
    kvs: keys.map((key, i) => ({
      key: Buffer.from(key),
      create_revision: String(100 - (i < together ? 0 : i)),
      mod_revision: '200',
      version: '1',
      value: Buffer.alloc(0),
      lease: '7',
    })),
    more,
    count: '99',
  });
  return { latest: range(ends.map((end) => `q/${end}`)), marks: range(marks.map((name) => `marks/${name}`)) };
}

const READER = `a-${ID}~r`;
const WRITER = `a-${ID}`;
const PAIR = `b-${ID}~2of5`;

describe('the entries ahead in the result of a read of etcd keys', () => {
  for (const { about, ends, shared = false, stored = {}, expected } of [
    { about: 'none when only the own row exists', ends: [OWN], expected: { refs: [], total: 0 } },
    {
      about: 'all other entries, nearest first',
      ends: [OWN, 'x', 'y'],
      expected: { refs: ['x', 'y'], total: 2 },
    },
    { about: 'no key of a nested name', ends: [OWN, 'n/x', 'y'], expected: { refs: ['y'], total: 1 } },
    {
      about: 'readers too for a writer',
      ends: [OWN, READER, 'y'],
      expected: { refs: [READER, 'y'], total: 2 },
    },
    {
      about: 'no readers for a reader',
      ends: [OWN, READER, 'y'],
      shared: true,
      expected: { refs: ['y'], total: 1 },
    },
    {
      about: 'without a total when rows are missing',
      ends: [OWN, 'x'],
      stored: { more: true },
      expected: { refs: ['x'] },
    },
    {
      about: 'no entry that is marked as shared, for a reader',
      ends: [OWN, WRITER, 'y'],
      shared: true,
      stored: { marks: [WRITER, `nested/${WRITER}`] },
      expected: { refs: ['y'], total: 1 },
    },
    {
      about: 'no fewer because of a mark of a nested name',
      ends: [OWN, WRITER],
      shared: true,
      stored: { marks: [`nested/${WRITER}`] },
      expected: { refs: [WRITER], total: 1 },
    },
    {
      about: 'entries that are marked as shared too, for a writer',
      ends: [OWN, WRITER],
      stored: { marks: [WRITER] },
      expected: { refs: [WRITER], total: 1 },
    },
    {
      about: 'unknown when the own row may be missing among keys of nested names of one revision',
      ends: ['n/x', 'n/y'],
      stored: { together: 2, more: true },
      expected: { refs: [] },
    },
    {
      about: 'no key of a nested name of the same revision as the own one, before or behind it',
      ends: ['n/x', OWN, 'n/y', 'y'],
      stored: { together: 3 },
      expected: { refs: ['y'], total: 1 },
    },
  ]) {
    it(`are these: ${about}`, () => {
      const { seenAt, ...ahead } = aheadIn(rows(ends, stored), contender(shared));
      expect(seenAt ?? 200n).to.equal(200n);
      const refs = ahead.refs.map(({ key }) => key.toString().slice('q/'.length));
      expect({ ...ahead, refs }).to.deep.equal(expected);
    });
  }

  for (const ends of [[], ['x'], ['x', OWN]]) {
    it(`cannot be determined (ENTRY_LOST) when the newest of the keys [${ends.join(', ')}] is not the waiter's own`, () => {
      expect(() => aheadIn(rows(ends), contender(false)))
        .to.throw()
        .with.property('code', 'ENTRY_LOST');
    });
  }

  it('need no second read when the first read has returned as many as the waiter must watch', () => {
    const refs = aheadIn(rows([OWN, 'x', 'y'], { more: true }), contender(false)).refs;
    expect(suffices({ refs }, 2)).to.equal(true);
    expect(suffices({ refs }, 3)).to.equal(false);
    expect(suffices({ refs, total: 2 }, 3)).to.equal(true);
  });

  it('have as many permits as their keys state, or one permit if the key states none', () => {
    const { refs } = aheadIn(rows([OWN, PAIR, WRITER, READER, 'foreign']), contender(false));
    expect(refs.map(({ permits }) => permits)).to.deep.equal([2, 1, 1, 1]);
  });

  it('have the limit that their keys state, or 1 for readers and entries of other programs', () => {
    const { refs } = aheadIn(rows([OWN, READER, PAIR, 'foreign']), contender(false));
    expect(refs.map(({ limit }) => limit)).to.deep.equal([1, 5, 1]);
    expect(otherLimitIn({ refs }, 5)).to.equal(1);
    expect(otherLimitIn({ refs: refs.slice(1) }, 3)).to.equal(5);
    expect(otherLimitIn({ refs: refs.slice(0, 2) }, 5)).to.equal(1);
    expect(otherLimitIn({ refs: refs.slice(1, 2) }, 5)).to.equal(undefined);
  });

  it('are watched for a mark only if queuelock created them and the waiter is a reader', () => {
    const marks = (shared: boolean): (string | undefined)[] =>
      aheadIn(rows([OWN, WRITER, 'foreign']), contender(shared)).refs.map(({ mark }) => mark?.toString());
    expect(marks(true)).to.deep.equal([`marks/${WRITER}`, undefined]);
    expect(marks(false)).to.deep.equal([undefined, undefined]);
  });
});
