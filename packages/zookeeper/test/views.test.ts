import { expect } from 'chai';
import { judgeServer, judgeTicks } from '../src/views/diagnose.ts';
import { parseContender } from '../src/queue/entries.ts';
import { schemeOf } from '../src/queue/naming.ts';
import { queuePath } from '../src/queue/names.ts';
import { QueueDepartures } from '../src/views/queues.ts';
import { nameOf, type WalkedQueue } from '../src/views/walk.ts';

describe('the queue names found in the tree of ZooKeeper', () => {
  it('are those for which the directories were created', () => {
    for (const name of [
      'a',
      'a/b',
      '/a//b/',
      '100%',
      '%41',
      'Ü 錠🔒',
      '.',
      'a/..',
      'zookeeper',
      '.queuelock/x',
      'x-lock-0000000001',
    ])
      for (const root of ['', '/chroot']) expect(nameOf(root, queuePath(root, name)), name).to.equal(name);
  });

  it('exclude directories that are not encoded queue names', () => {
    for (const directory of [
      '/r',
      '/r/',
      '/r/zookeeper/config',
      '/r/.queuelock/held/a',
      '/r/%61',
      '/r/%FF',
      '/r/a%2Fb',
    ])
      expect(nameOf('/r', directory), directory).to.equal(undefined);
  });
});

describe('the count of entries that left a ZooKeeper queue', () => {
  const scheme = schemeOf('curator');
  let now = 0;
  const clock = { now: () => now, after: () => () => undefined };
  const walked = (...sequences: readonly number[]): WalkedQueue => {
    const children = sequences.map((sequence) => `_c_x-lock-${String(sequence).padStart(10, '0')}`);
    const contenders = children.map((child) => parseContender(child, scheme)!);
    return { name: 'q', directory: '/q', children, contenders };
  };
  const left = (departures: QueueDepartures, ...sequences: readonly number[]): number | undefined =>
    departures.listed(sequences.length === 0 ? [] : [walked(...sequences)])[0]?.left;

  it('includes entries that have joined and left between two walks through the tree', () => {
    const departures = new QueueDepartures(clock);
    expect(left(departures, 3, 4)).to.equal(0);
    expect(left(departures, 4, 5)).to.equal(1);
    expect(left(departures, 15)).to.equal(12);
    expect(left(departures)).to.equal(undefined);
    expect(left(departures, 16)).to.equal(13);
  });

  it('includes the entries of a directory that was removed and created again', () => {
    const departures = new QueueDepartures(clock);
    left(departures, 3, 4);
    expect(left(departures, 0)).to.equal(2);
  });

  it('is forgotten 60 s after the queue became empty', () => {
    const departures = new QueueDepartures(clock);
    left(departures, 3, 4);
    now += 61_000;
    left(departures);
    expect(left(departures, 9)).to.equal(0);
  });
});

describe('the diagnosis of a ZooKeeper server', () => {
  const findingsFor = (facts: Readonly<Record<string, string>>): string[] =>
    judgeServer('s', new Map(Object.entries(facts))).map(({ level, text }) => `${level} ${text}`);
  const latency = { 'Latency min/avg/max': '0/0.5/12' };

  it('reports known problems of the version of the server', () => {
    const of = (version: string): string[] =>
      findingsFor({ 'Zookeeper version': `${version}-abc, built on 2020`, Mode: 'leader', ...latency });
    expect(of('3.9.3')).to.deep.equal(['ok ZooKeeper 3.9.3, leader, responds in 0.5 ms on average']);
    expect(of('3.10.0')).to.have.length(1);
    expect(of('3.9.2')[1]).to.match(/^warning .*ZOOKEEPER-4541/);
    expect(of('3.4.14')[1]).to.match(/^error .*container/);
  });

  it('reports a server that does not respond as not serving', () => {
    expect(findingsFor({})).to.have.length(1);
    expect(findingsFor({})[0]).to.match(/^error .*4lw/);
  });

  it('reports a server that is read-only', () => {
    const facts = { 'Zookeeper version': '3.9.4', Mode: 'read-only', ...latency };
    expect(findingsFor(facts).join()).to.match(/^error it is read-only, since it reaches no majority/);
  });

  it('reports a server with an average latency of 150 ms as slow', () => {
    expect(
      findingsFor({
        'Zookeeper version': '3.9.4',
        Mode: 'follower',
        'Latency min/avg/max': '0/150.0/900',
      })[1],
    ).to.match(/^warning it is slow/);
  });

  it("compares the server's tick settings with those that the client assumes", () => {
    const judged = (conf: Readonly<Record<string, string>>, tickTimeMs = 2_000, syncLimit = 5): string =>
      judgeTicks('s', new Map(Object.entries(conf)), { tickTimeMs, syncLimit })
        .map(({ level, text }) => `${level} ${text}`)
        .join();
    expect(judged({})).to.match(/^warning .*whitelist=srvr,conf/);
    expect(judged({ tickTime: '2000', syncLimit: '5' })).to.match(/^ok TTLs from 14000 ms/);
    expect(judged({ tickTime: '3000', syncLimit: '5' })).to.match(
      /^error .*from 21000 ms.*\?tickTimeMs=3000&syncLimit=5/,
    );
    expect(judged({ tickTime: '500' })).to.match(/^warning TTLs from 2000 ms/);
  });
});
