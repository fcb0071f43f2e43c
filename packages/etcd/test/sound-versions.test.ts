import { expect } from 'chai';
import {
  distrust,
  losesEvents,
  checkedRevocationsSince,
  staleReads,
  type MemberFacts,
} from '../src/server/read-trust.ts';

describe('the check whether a version of etcd may return stale reads', () => {
  for (const [version, stale] of [
    ['3.3.27', true],
    ['3.4.0', true],
    ['3.4.23', true],
    ['3.4.41', true],
    ['3.4.42', false],
    ['3.4.100', false],
    ['3.5.0', true],
    ['3.5.27', true],
    ['3.5.28-rc.0', true],
    ['3.5.28', false],
    ['v3.5.30', false],
    ['3.5.30+build.1', false],
    ['3.6.0', true],
    ['3.6.8', true],
    ['3.6.9', false],
    ['3.7.0-alpha.0', true],
    ['3.7.0', false],
    ['4.0.0', false],
    ['2.3.8', true],
    ['', true],
    ['unknown', true],
    ['3.5', true],
  ] as const) {
    it(`is ${stale ? 'true' : 'false'} for etcd "${version}"`, () => {
      expect(staleReads(version)).to.equal(stale);
    });
  }
});

describe('the check whether a version of etcd may lose events of watches', () => {
  for (const [version, loses] of [
    ['3.4.35', true],
    ['3.4.36', false],
    ['3.5.17', true],
    ['3.5.18-rc.0', true],
    ['3.5.18', false],
    ['3.6.0', false],
    ['', true],
  ] as const) {
    it(`is ${loses ? 'true' : 'false'} for etcd "${version}"`, () => {
      expect(losesEvents(version)).to.equal(loses);
    });
  }
});

describe('the first release whose leaders check that they still lead before they end leases', () => {
  for (const [version, first] of [
    ['3.4.23', '3.4.31'],
    ['3.4.31', undefined],
    ['3.5.12', '3.5.13'],
    ['3.5.13-rc.0', '3.5.13'],
    ['3.5.30', undefined],
    ['3.6.0', undefined],
    ['unknown', undefined],
  ] as const) {
    it(`is ${first ?? 'not later'} for etcd "${version}"`, () => {
      expect(checkedRevocationsSince(version)).to.equal(first);
    });
  }
});

const facts = (member: string, more: Partial<MemberFacts> = {}): MemberFacts => ({
  version: '3.5.30',
  term: '7',
  leader: '1',
  member,
  ...more,
});

describe('the reads of an etcd cluster', () => {
  for (const [about, reported, reason] of [
    ['are trusted when all members run sound versions', [facts('1'), facts('2')], undefined],
    [
      'are trusted when the versions differ and are sound',
      [facts('1'), facts('2', { version: '3.6.9' })],
      undefined,
    ],
    [
      'are not trusted when one member runs 3.4.23',
      [facts('1'), facts('2', { version: '3.4.23' })],
      /b:1 runs 3.4.23.*3.4.42/,
    ],
    [
      'are not trusted when a version cannot be parsed',
      [facts('1', { version: 'mine' })],
      /a:1 runs mine.*3.4.42, 3.5.28/,
    ],
    [
      'are not trusted when the version of one member is unknown',
      [facts('1'), undefined],
      /b:1 has not returned its version in Raft term 7/,
    ],
    [
      'are not trusted when a version was reported in an earlier term',
      [facts('1'), facts('2', { term: '6' })],
      /b:1 has not returned/,
    ],
    [
      'are not trusted when a version was reported in a later term',
      [facts('1'), facts('2', { term: '8' })],
      /b:1 has not returned/,
    ],
    [
      'are not trusted when the leader is none of the hosts',
      [facts('2'), facts('3')],
      /follows a leader that is not among the hosts/,
    ],
    [
      'are not trusted when there is no leader',
      [facts('1', { leader: '0' })],
      /follows a leader that is not among the hosts/,
    ],
  ] as const) {
    it(about, () => {
      const reasons = distrust('7', new Map(reported.map((each, i) => [['a:1', 'b:1'][i]!, each])));
      if (reason === undefined) expect(reasons).to.deep.equal([]);
      else expect(reasons.join('; ')).to.match(reason);
    });
  }
});
