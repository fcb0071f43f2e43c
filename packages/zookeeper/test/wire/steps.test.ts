import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import type { WireDriver } from '../../src/wire/driver.ts';
import { Bench, newQueue, outcome } from '../bench.ts';
import { connected, driverTo } from './clients.ts';

describe('a ZooKeeper transaction', () => {
  const bench = new Bench();
  let zk: WireDriver;
  let root: string;

  beforeEach(async () => {
    const { endpoint } = await sharedZooKeeper('steps of @queuelock/zookeeper');
    zk = await connected(driverTo(bench, endpoint));
    root = `/${newQueue()}`;
    await zk.create(root, 'a', 'container');
  });
  afterEach(() => bench.clear());

  it('creates nodes of every kind, and returns their paths and its id', async () => {
    const done = await zk.multi([
      { type: 'check', path: root },
      { type: 'create', path: `${root}/kept`, text: 'text', mode: 'persistent' },
      { type: 'create', path: `${root}/container`, text: '', mode: 'container' },
      { type: 'create', path: `${root}/own`, text: '', mode: 'ephemeral' },
      { type: 'create', path: `${root}/own-`, text: '', mode: 'ephemeral-sequential' },
      { type: 'write', path: root, text: 'b', version: 0 },
    ]);
    const names = ['kept', 'container', 'own', 'own-0000000003'];
    const stats = await Promise.all(names.map((name) => zk.stat(`${root}/${name}`)));
    const czxids = new Set(stats.map((stat) => stat!.czxid));
    expect(czxids.size).to.equal(1);
    const [zxid] = czxids;
    expect(done).to.deep.equal({ done: true, paths: names.map((name) => `${root}/${name}`), zxid });
    expect(await zk.read(`${root}/kept`)).to.deep.include({ text: 'text' });
  });

  it('returns no id unless one of its steps writes', async () => {
    await zk.create(`${root}/one`, '', 'persistent');
    const done = await zk.multi([{ type: 'delete', path: `${root}/one`, version: 0 }]);
    expect(done).to.deep.equal({ done: true, paths: [] });
    expect(await zk.children(root)).to.deep.equal([]);
  });

  it('does nothing when one step fails, and reports which one and why', async () => {
    const made = { type: 'create', path: `${root}/one`, text: '', mode: 'persistent' } as const;
    const none = `${root}/none`;
    const failures = [
      await zk.multi([made, { type: 'check', path: none }]),
      await zk.multi([made, { type: 'delete', path: none }, made]),
      await zk.multi([{ type: 'create', path: `${none}/below`, text: '', mode: 'ephemeral' }, made]),
      await zk.multi([made, made]),
      await zk.multi([made, { type: 'write', path: root, text: 'c', version: 7 }]),
    ];
    expect(failures).to.deep.equal([
      { done: false, at: 1, reason: 'missing' },
      { done: false, at: 1, reason: 'missing' },
      { done: false, at: 0, reason: 'missing' },
      { done: false, at: 1, reason: 'exists' },
      { done: false, at: 1, reason: 'version' },
    ]);
    expect(await zk.children(root)).to.deep.equal([]);
    expect(await zk.read(root)).to.deep.include({ text: 'a' });
  });

  it('rejects with INVALID_ARGUMENT, like a single request, if a step is invalid or too large', async () => {
    await zk.create(`${root}/own`, '', 'ephemeral');
    const below = { type: 'create', path: `${root}/own/below`, text: '', mode: 'ephemeral' } as const;
    expect(await outcome(zk.multi([below]))).to.equal('INVALID_ARGUMENT');
    const large = { type: 'write', path: root, text: 'x'.repeat(2 ** 20) } as const;
    expect(await outcome(zk.multi([large]))).to.equal('INVALID_ARGUMENT');
  });
});
