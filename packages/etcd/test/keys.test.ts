import { expect } from 'chai';
import {
  checkName,
  entryKey,
  fastMark,
  entryStem,
  generationKey,
  leaseHex,
  markDirectory,
  queuePrefix,
  rangeOfStem,
  rangeUnder,
  rangesBesideFast,
  readKey,
  registerKey,
  suffixOf,
  tailKey,
} from '../src/queue/keys.ts';

const ID = '0123456789abcdef0123456789abcdef';

describe('keys of etcd entries', () => {
  it('contain the lease as Go formats it, in lower-case hexadecimal without padding', () => {
    expect(leaseHex('7587862094807893254')).to.equal('694d805f7dad0506');
    expect(leaseHex('10')).to.equal('a');
    expect(leaseHex('-1')).to.equal('ffffffffffffffff');
  });

  it('consist of prefix, name, lease and id', () => {
    const under = queuePrefix('team/', 'jobs');
    expect(under).to.equal('team/jobs/');
    expect(entryKey(under, '10', { id: ID, shared: false, limit: 1 })).to.equal(`team/jobs/a-${ID}`);
    expect(entryKey(under, '10', { id: ID, shared: true, limit: 1 })).to.equal(`team/jobs/a-${ID}~r`);
    expect(generationKey('team/', '10')).to.equal('team/.queuelock/a');
  });

  it('end in permits and limit of the entry if its limit is above 1, except for readers', () => {
    const name = (more: Partial<Parameters<typeof entryKey>[2]>): string =>
      entryKey('q/', '10', { id: ID, shared: false, limit: 1, ...more });
    expect(name({ limit: 3 })).to.equal(`q/a-${ID}~1of3`);
    expect(name({ limit: 3, permits: 2 })).to.equal(`q/a-${ID}~2of3`);
    expect(name({ limit: 1, permits: 1 })).to.equal(`q/a-${ID}`);
    expect(name({ limit: 3, shared: true })).to.equal(`q/a-${ID}~r`);
  });

  it('show the number of permits that the suffix contains', () => {
    for (const properties of [
      { shared: false, limit: 1 },
      { shared: false, limit: 1, permits: 1 },
      { shared: false, limit: 3 },
      { shared: false, limit: 3, permits: 2 },
      { shared: true, limit: 3, permits: 2 },
    ]) {
      const key = Buffer.from(entryKey('q/', '10', { id: ID, ...properties }));
      expect(readKey('q/', key)?.permits).to.equal(suffixOf(properties).permits);
    }
  });

  it('that can belong to one entry are in one range, without keys of other entries', () => {
    const { key, range_end } = rangeOfStem(entryStem('q/', '10', ID));
    const isIn = (name: string): boolean =>
      Buffer.compare(key, Buffer.from(name)) <= 0 && Buffer.compare(Buffer.from(name), range_end) < 0;
    for (const end of ['', '~r', '~1of3', '~12of300']) expect(isIn(`q/a-${ID}${end}`)).to.equal(true);
    const neighbours = [ID.replace(/f$/, 'e'), `${ID.slice(0, -1)}g`];
    for (const other of neighbours) expect(isIn(`q/a-${other}`)).to.equal(false);
    expect(isIn(`q/aa-${ID}`)).to.equal(false);
  });

  it('with naming fast lie outside of two ranges that contain all other keys of the queue', () => {
    const ranges = rangesBesideFast('q/', fastMark('é'));
    const compareToRange = (name: string): number =>
      ranges.findIndex(
        ({ key, range_end }) =>
          Buffer.compare(key, Buffer.from(name)) <= 0 && Buffer.compare(Buffer.from(name), range_end) < 0,
      );
    expect(['q/', 'q/a', `q/ffff-${ID}~r`, 'q/}', 'q/a/b'].map(compareToRange)).to.deep.equal([
      0, 0, 0, 0, 0,
    ]);
    expect([`q/~2.a-${ID}`, `q/~2.ff-${ID}`, 'q/~2.'].map(compareToRange)).to.deep.equal([-1, -1, -1]);
    expect([`q/~0.a-${ID}`, `q/~1.a-${ID}`, `q/~2`].map(compareToRange)).to.deep.equal([0, 0, 0]);
    expect(
      [`q/~20.a-${ID}`, `q/~3.a-${ID}`, 'q/~a', 'q/\u007f', 'q/ü', 'q/鎖🔒'].map(compareToRange),
    ).to.deep.equal([1, 1, 1, 1, 1, 1]);
    expect(['q', 'q0', 'r/a'].map(compareToRange)).to.deep.equal([-1, -1, -1]);
  });

  it('are apart from the keys of marks, tails and registers, which are below .queuelock/', () => {
    expect(markDirectory('team/', 'a/b')).to.equal('team/.queuelock/shared/a/b/');
    expect(tailKey('team/', 'a/b')).to.equal('team/.queuelock/tail/a/b');
    expect(registerKey('team/', 'a/b', 'open')).to.equal('team/.queuelock/register/open/a/b');
  });

  it('of one queue are in one range, which contains all keys with the prefix of the queue', () => {
    const { key, range_end } = rangeUnder('jobs/');
    expect([key.toString(), range_end.toString()]).to.deep.equal(['jobs/', 'jobs0']);
  });

  const plain = { ours: false, shared: false, limit: 1, permits: 1 };
  for (const [rest, is, seen] of [
    [`a-${ID}`, 'an exclusive entry of this library', { ...plain, ours: true }],
    [`a-${ID}~r`, 'a shared entry', { ...plain, ours: true, shared: true }],
    [`a-${ID}~2of30`, 'an entry with two permits', { ...plain, ours: true, permits: 2, limit: 30 }],
    [`~0.a-${ID}`, 'a fast entry', { ...plain, ours: true }],
    [`~a-${ID}`, 'a foreign entry', plain],
    [`~~0.a-${ID}`, 'a foreign entry', plain],
    ['2a12a1f859247906', 'a foreign entry of Go or etcdctl', plain],
    ['anything', 'a foreign entry', plain],
    ['', 'a foreign entry', plain],
    ['ours~r', 'a foreign entry', plain],
    ['ours~2of3', 'a foreign entry', plain],
    [`a-${ID.slice(1)}~r`, 'a foreign entry', plain],
    [`a-${ID}~0of3`, 'a foreign entry', plain],
    [`a-${ID}~2of`, 'a foreign entry', plain],
    [`a-${ID}~2of3~r`, 'a foreign entry', plain],
    [`a-${ID}~1of${'9'.repeat(16)}`, 'a foreign entry', plain],
    [`sub/a-${ID}`, 'not an entry', undefined],
    [`/a-${ID}~r`, 'not an entry', undefined],
  ] as const) {
    it(`are recognized among the keys of a queue: "${rest}" is ${is}`, () => {
      const read = readKey('jobs/', Buffer.from(`jobs/${rest}`));
      expect(read).to.deep.equal(seen && { key: `jobs/${rest}`, name: rest, ...seen });
    });
  }

  it('may contain queue names of every script, with slashes and dots, up to 1,024 bytes including the prefix', () => {
    const names = [
      'jobs',
      '/jobs',
      'a/b//c/',
      '.hidden',
      '.queuelocks',
      'a/.queuelock',
      'Übung',
      '鎖🔒',
      ' ',
      '\u0000',
    ];
    for (const name of names) checkName('team/', name);
    checkName('team/', 'x'.repeat(1_019));
  });

  for (const [about, name, rule] of [
    ['an empty name', '', /at least one character/],
    ['a name that is too long', 'x'.repeat(1_020), /1024 bytes/],
    ['a name that is too long in bytes', 'ü'.repeat(512), /1024 bytes/],
    ['half a character', 'a\ud800', /surrogates/],
    ['the name of the internal directory', '.queuelock', /queuelock keeps its own keys/],
    ['a name below the internal directory', '.queuelock/a', /queuelock keeps its own keys/],
  ] as const) {
    it(`cannot contain ${about}, which is refused with INVALID_ARGUMENT and the rule`, () => {
      expect(() => checkName('team/', name))
        .to.throw(rule)
        .with.property('code', 'INVALID_ARGUMENT');
    });
  }
});
