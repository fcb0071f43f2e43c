import { expect } from 'chai';
import { provenBy } from '../src/session/heartbeat-proof.ts';
import { Keys } from '../src/queue/keys.ts';
import { aheadOf, contendersIn } from '../src/queue/entries.ts';
import type { KvPair } from '../src/driver/responses.ts';
import { judgeAgent, judgeQueues, judgeServers, judgeTtl, millisecondsIn } from '../src/views/diagnose.ts';

const TTL_MS = 10_000;

describe('the proven time after a heartbeat on Consul', () => {
  it('is equal to the TTL while heartbeats are regular', () => {
    expect(provenBy(TTL_MS, (3 / 4) * TTL_MS)).to.equal(TTL_MS);
  });

  it('is shorter than the TTL at the first heartbeat after a gap', () => {
    expect(provenBy(TTL_MS, 1_000)).to.equal(6_000);
    expect(provenBy(TTL_MS, 5_900)).to.equal(TTL_MS);
  });

  it('ends at most two TTLs after the last renewal that the server certainly received', () => {
    for (const gapMs of [1_000, 9_000, 12_000, 19_000, 40_000])
      expect(gapMs + provenBy(TTL_MS, TTL_MS - gapMs), `after ${gapMs} ms`).to.be.at.most(
        Math.max(2 * TTL_MS, gapMs),
      );
  });
});

describe('the keys of Consul', () => {
  const keys = new Keys('locks/');

  for (const [name, encoded] of [
    ['nightly-report_1.5', 'nightly-report_1.5'],
    ['a/b', 'a=2Fb'],
    ['.', '=2E'],
    ['..', '=2E.'],
    ['=', '=3D'],
    ['100%', '100=25'],
    ['é', '=C3=A9'],
  ] as const) {
    it(`encode the queue name ${name} as ${encoded}, and decode it again`, () => {
      const key = keys.entry(name, 'id');
      expect(key).to.equal(`locks/queues/${encoded}/id`);
      expect(keys.entryIn(key)).to.deep.equal({ queue: name, id: 'id' });
    });
  }

  it('begin with an encoded prefix when the name of the queue begins with that prefix', () => {
    expect(keys.queue('.a/b/c').startsWith(keys.queuesFrom('.a/b'))).to.equal(true);
  });

  it('are recognized as keys of entries only when they consist of prefix, queue and id', () => {
    for (const key of ['locks/queues/a', 'locks/queues/a/', 'locks/queues/a/b/c', 'other/queues/a/b'])
      expect(keys.entryIn(key), key).to.equal(undefined);
  });
});

describe('the entries of a queue on Consul', () => {
  function pair(index: number, text: string, id = index.toString(16).padStart(32, '0')): KvPair {
    const [createIndex, modifyIndex] = [BigInt(index), BigInt(index)];
    return { key: `q/${id}`, text, session: 's', createIndex, modifyIndex, flags: 0 };
  }
  const reader = '{"shared":true,"limit":1,"permits":1,"value":"r"}';
  const writer = '{"shared":false,"limit":1,"permits":1,"value":"w"}';

  it('are ordered by the index of their creation, and readers do not conflict with each other', () => {
    const contenders = contendersIn([pair(30, reader), pair(10, writer), pair(20, reader)]);
    expect(contenders.map(({ order }) => order)).to.deep.equal([10n, 20n, 30n]);
    const own = contenders[2]!;
    expect(aheadOf(contenders, own).refs.map(({ order }) => order)).to.deep.equal([10n]);
  });

  it('count as exclusive when another program wrote their value', () => {
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '{"shared":true}',
      '{"shared":true,"limit":0,"permits":1,"value":""}',
    ]) {
      const [contender] = contendersIn([pair(1, text)]);
      expect(contender, text).to.include({
        shared: false,
        limit: 1,
        permits: 1,
        value: text,
        isForeign: true,
      });
    }
    expect(contendersIn([pair(1, reader, 'leader')])[0]).to.include({ shared: false, isForeign: true });
  });
});

describe('the findings about a Consul cluster', () => {
  const about = 'consul://h';

  it('report an unsupported release, and a release that was not tested', () => {
    const levelOf = (version: string): unknown =>
      judgeAgent({ version, isServer: true, minTtlMs: undefined }, about)[0]?.level;
    expect(['0.9.3', '1.7.0', '1.8.7', '1.21.0'].map(levelOf)).to.deep.equal([
      'error',
      'warning',
      'ok',
      'ok',
    ]);
  });

  it("report that the servers' minimum TTL differs from the client's option", () => {
    const levelOf = (serverMs: number): unknown =>
      judgeTtl({ version: '1.8.7', isServer: true, minTtlMs: serverMs }, 10_000, about)[0]?.level;
    expect([20_000, 10_000, 1_000].map(levelOf)).to.deep.equal(['error', undefined, 'warning']);
  });

  it('report a cluster that would stop working if one of its servers failed', () => {
    expect([1, 2, 3].map((servers) => judgeServers(servers, about).level)).to.deep.equal([
      'warning',
      'warning',
      'ok',
    ]);
  });

  it('count queues and entries, and name keys that queuelock did not write', () => {
    const queues = new Map([
      ['clean', [{ key: 'q/clean/1', isForeign: false }]],
      ['mixed', ['q/mixed/x', 'q/mixed/y'].map((key) => ({ key, isForeign: true }))],
    ]);
    expect(judgeQueues(queues, 1)).to.deep.equal([
      {
        level: 'warning',
        about: 'queue mixed',
        text: 'queuelock did not write "q/mixed/x" and 1 more keys: entries behind wait until they are deleted',
      },
      { level: 'ok', about: 'queues', text: '2 in use, entries: 3, sessions: 1' },
    ]);
  });

  it('convert durations of Consul, such as 1m30s, to milliseconds', () => {
    expect(['0s', '100ms', '10s', '1m30s', '1h0m0s', undefined].map(millisecondsIn)).to.deep.equal([
      10_000,
      100,
      10_000,
      90_000,
      3_600_000,
      undefined,
    ]);
  });
});
