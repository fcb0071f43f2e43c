import { createLockClient, type LockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { expect } from 'chai';
import { Etcd3, type Campaign } from 'etcd3';
import { sharedEtcd, type EtcdService } from '@queuelock/harness/services';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { eventually, freshQueue } from './clients.ts';

describe('the election of npm etcd3', () => {
  let server: EtcdService;
  let ours: LockClient;
  let theirs: Etcd3;

  before(async () => {
    server = await sharedEtcd('npm etcd3’s election beside @queuelock/etcd');
  });
  beforeEach(() => {
    ours = createLockClient(etcd({ ...etcdTransport(), hosts: server.endpoint }));
    theirs = new Etcd3({ hosts: server.endpoint });
  });
  afterEach(async () => {
    await ours.close();
    theirs.close();
  });

  it('puts its candidates into the queue election/NAME, in one order with claims of queuelock', async () => {
    const name = freshQueue();
    const queue = `election/${name}`;
    const own = await ours.acquire(queue, { value: 'ours' });
    const campaign: Campaign = theirs.election(name, 30).campaign('theirs');
    let elected = false;
    campaign.on('elected', () => (elected = true));
    const seen: string[][] = [];
    const watch = ours.watch(queue).subscribe(({ entries }) => seen.push(entries.map(({ value }) => value)));
    await eventually('the candidate is in the queue', () => seen.at(-1)?.join() === 'ours,theirs');
    const next = ours.acquire(queue, { value: 'ours again' });
    await eventually(
      'the claim is behind the candidate',
      () => seen.at(-1)?.join() === 'ours,theirs,ours again',
    );
    expect(elected).to.equal(false);
    await own.release();
    await eventually('it is elected', () => elected);
    expect(seen.at(-1)).to.deep.equal(['theirs', 'ours again']);
    await campaign.resign();
    await (await next).release();
    watch.unsubscribe();
  });
});
