import { expect } from 'chai';
import {
  checkName,
  entryKey,
  generationKey,
  leaseHex,
  queuePrefix,
  rangeUnder,
  readKey,
} from '../src/keys.ts';

const ID = '0123456789abcdef0123456789abcdef';

describe('keys on etcd', () => {
  it('name the lease as Go does: lower-case hexadecimal without padding', () => {
    expect(leaseHex('7587862094807893254')).to.equal('694d805f7dad0506');
    expect(leaseHex('10')).to.equal('a');
    expect(leaseHex('-1')).to.equal('ffffffffffffffff');
  });

  it('consist of prefix, name, lease and id', () => {
    const under = queuePrefix('team/', 'jobs');
    expect(under).to.equal('team/jobs/');
    expect(entryKey(under, '10', { id: ID, shared: false })).to.equal(`team/jobs/a-${ID}`);
    expect(entryKey(under, '10', { id: ID, shared: true })).to.equal(`team/jobs/a-${ID}~r`);
    expect(generationKey('team/', '10')).to.equal('team/.queuelock/a');
  });

  it('of a queue are the range from its prefix to the next character', () => {
    const { key, range_end } = rangeUnder('jobs/');
    expect([key.toString(), range_end.toString()]).to.deep.equal(['jobs/', 'jobs0']);
  });

  for (const [rest, seen] of [
    [`a-${ID}`, 'alone'],
    [`a-${ID}~r`, 'shared'],
    ['2a12a1f859247906', 'alone'], // Go, etcdctl
    ['anything', 'alone'],
    ['', 'alone'],
    ['ours~r', 'alone'],
    [`a-${ID.slice(1)}~r`, 'alone'],
    [`sub/a-${ID}`, 'none'],
    [`/a-${ID}~r`, 'none'],
  ] as const) {
    it(`under a queue's prefix, "${rest}" is ${{ alone: 'an exclusive', shared: 'a shared', none: 'no' }[seen]} contender`, () => {
      const read = readKey('jobs/', Buffer.from(`jobs/${rest}`));
      expect(read).to.deep.equal(
        seen === 'none' ? undefined : { key: `jobs/${rest}`, shared: seen === 'shared' },
      );
    });
  }

  it('take names of every script, with slashes and dots, up to 1,024 bytes together with the prefix', () => {
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
    ['the name of our own directory', '.queuelock', /queuelock keeps its own keys/],
    ['a name inside of it', '.queuelock/a', /queuelock keeps its own keys/],
  ] as const) {
    it(`refuse ${about} with INVALID_ARGUMENT and the rule`, () => {
      expect(() => checkName('team/', name))
        .to.throw(rule)
        .with.property('code', 'INVALID_ARGUMENT');
    });
  }
});
