import { expect } from 'chai';
import { Entry } from '../src/entry/entry.ts';
import { KeyIds, mayTakeSpare } from '../src/queue/key-ids.ts';
import { newSpec } from './clients.ts';

const [A, B] = ['a'.repeat(32), 'b'.repeat(32)];
const LABEL = JSON.stringify({ owner: 'worker', metadata: {} });

describe('the id in the key of an entry', () => {
  let keyIds: KeyIds;
  beforeEach(() => {
    keyIds = new KeyIds();
  });

  function enter(id: string, queue = 'q', maySpare = true): string {
    const keyId = keyIds.choose({ queue, id }, maySpare);
    keyIds.use(id, keyId);
    return keyId;
  }

  function leave(id: string, keyId: string, { queue = 'q', isSpare = true } = {}): void {
    keyIds.leave({ queue, id }, keyId, isSpare);
  }

  it('is the id of the entry itself until an entry of the same queue has left', () => {
    expect([enter('a'), enter('b')]).to.deep.equal(['a', 'b']);
    leave('a', 'a');
    expect([enter('c', 'other'), enter('d'), enter('e')]).to.deep.equal(['c', 'a', 'e']);
  });

  it('is one of five ids as long as at most five entries exist at the same time', () => {
    const known = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      const ids = Array.from({ length: 5 }, (_, i) => `${round} ${i}`);
      const called = ids.map((id) => enter(id));
      called.forEach((keyId, i) => {
        known.add(keyId);
        leave(ids[i]!, keyId);
      });
    }
    expect(known.size).to.equal(5);
  });

  it('is not the id of an earlier key whose removal is unconfirmed', () => {
    leave('a', enter('a'), { isSpare: false });
    expect(enter('b')).to.equal('b');
  });

  it("is the entry's own id if the entry may not reuse an id", () => {
    leave(A, enter(A));
    expect(enter('b', 'q', false)).to.equal('b');
    expect(enter('c')).to.equal(A);
    expect(enter(A))
      .to.match(/^[0-9a-f]{32}$/)
      .and.to.not.equal(A);
  });

  it('is not reused after the ids were exported for the process that resumes the session', () => {
    leave('a', enter('a'));
    expect(enter('b')).to.equal('a');
    expect([...keyIds.exportIds()]).to.deep.equal([['b', 'a']]);
    leave('b', 'a');
    expect(enter('c')).to.equal('c');
    leave('c', 'c');
    expect(enter('d')).to.equal('d');
  });

  it('stays the same for an existing entry when another process resumes the session', () => {
    const noted = new Map([[B, A]]);
    const other = new Set<string>();
    for (const left of [false, true]) {
      keyIds = new KeyIds();
      keyIds.importIds(noted);
      expect(enter(B)).to.equal(A);
      if (left) leave(B, A);
      expect([...keyIds.exportIds()], 'for the next one').to.deep.equal([...noted]);
      other.add(keyIds.choose({ queue: 'q', id: A }, true));
      expect(enter('c')).to.equal('c');
    }
    expect([...other]).to.have.length(1);
    expect([...other].join())
      .to.match(/^[0-9a-f]{32}$/)
      .and.to.not.equal(A);
  });

  it('is remembered for reuse in only the 10,000 queues that were used last', () => {
    for (let i = 0; i <= 10_000; i += 1) leave(`${i}`, enter(`${i}`, `q${i}`), { queue: `q${i}` });
    expect(enter('x', 'q0')).to.equal('x');
    expect(enter('y', 'q1')).to.equal('1');
    expect(enter('z', 'q10000')).to.equal('10000');
  });

  for (const [about, value, under, may] of [
    ['an entry without a value', undefined, 'jobs/', true],
    ['an entry with a label', LABEL, 'jobs/', true],
    ['an entry with a published value', 'node-7', 'jobs/', false],
    ['an entry in an election of npm etcd3', LABEL, 'election/jobs/', false],
    ['an entry of such an election in a namespace', undefined, 'team/election/jobs/', false],
    ['an entry of another name with the same ending', LABEL, 'selection/jobs/', true],
  ] as const) {
    it(`${may ? 'may' : 'may not'} be the id of an earlier entry if the key is that of ${about}`, () => {
      expect(mayTakeSpare(value === undefined ? {} : { value }, under)).to.equal(may);
    });
  }
});

describe('the key of an etcd entry that has left', () => {
  const made = { status: 'made', order: 7n, rows: { latest: undefined as never } } as const;

  function newEntry(single?: Buffer): Entry {
    const origin = { prefix: '', lease: '7', revision: 1n, resumedAt: 0n, isFast: false, keyId: 'k', single };
    return new Entry(newSpec('q'), origin);
  }

  async function entered(single?: Buffer): Promise<Entry> {
    const entry = newEntry(single);
    await entry.creating(Promise.resolve(), () => made);
    return entry;
  }

  it('is reused when its creation was confirmed and its only removal has deleted it', async () => {
    const entry = await entered();
    entry.withdraw();
    expect([entry.leavesKeySpare(true), entry.leavesKeySpare(false)]).to.deep.equal([true, false]);
  });

  it('is reused when the enqueue found the queue occupied and did not create the key', async () => {
    const entry = newEntry();
    await entry.creating(Promise.resolve(), () => ({ status: 'occupied', contenders: true }));
    entry.withdraw();
    expect(entry.leavesKeySpare(false)).to.equal(true);
  });

  for (const [about, spoil] of [
    ['two removals were sent', (entry: Entry) => entry.withdraw()],
    ['the server reported that it was removed', (entry: Entry) => (entry.gone = true)],
    ['it was marked', (entry: Entry) => (entry.mark = entry.markKey)],
    [
      'the reply to a create was lost',
      (entry: Entry) => entry.creating(Promise.reject(new Error('lost')), () => made).catch(() => undefined),
    ],
    ['a create is in flight', (entry: Entry) => void entry.creating(new Promise(() => {}), () => made)],
  ] as const) {
    it(`is not reused when ${about}`, async () => {
      const entry = await entered();
      await spoil(entry);
      entry.withdraw();
      expect(entry.leavesKeySpare(true)).to.equal(false);
    });
  }

  it('is not reused when the entry was enqueued with a single key', async () => {
    const entry = await entered(Buffer.from('single'));
    entry.withdraw();
    expect(entry.leavesKeySpare(true)).to.equal(false);
  });
});
