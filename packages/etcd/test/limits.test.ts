import { expect } from 'chai';
import { safely } from '@queuelock/conformance';
import type { Session } from '@queuelock/core/backend';
import { sharedEtcd, type EtcdService } from '@queuelock/harness/services';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { lockByEtcdctl } from './etcdctl.ts';
import { Operator } from './operator.ts';
import { requestsOf } from './requests.ts';

describe('limits and permits in etcd', () => {
  let server: EtcdService;
  let operator: Operator;
  let session: Session;
  const clients = new Clients();

  before(async () => {
    server = await sharedEtcd('limits of @queuelock/etcd');
    operator = new Operator(server.endpoint);
  });
  after(() => {
    operator.close();
  });
  beforeEach(async () => {
    session = await clients.session({ hosts: server.endpoint, heartbeatProof: 'verified' });
  });
  afterEach(() => clients.close());

  it('are both written into the key of an entry if at least one of them is not 1', async () => {
    const queue = freshQueue();
    const specs = [newSpec(queue, { limit: 3, permits: 2 }), newSpec(queue, { limit: 3 }), newSpec(queue)];
    const keys: string[] = [];
    for (const spec of specs) keys.push((await session.enqueue(spec)).key);
    const ends = ['~2of3', '~1of3', ''];
    expect(keys).to.deep.equal(specs.map(({ id }, i) => `${queue}/${session.id}-${id}${ends[i]}`));
    expect(await operator.keysUnder(`${queue}/`)).to.deep.equal(keys);
  });

  it('are those of the latest enqueue of an entry', async () => {
    const queue = freshQueue();
    await session.enqueue(newSpec(queue, { limit: 2, permits: 2 }));
    const spec = newSpec(queue, { limit: 2 });
    const first = await session.enqueue(spec);
    let second = first;
    const cost = await requestsOf(server.endpoint, async () => {
      second = await session.enqueue({ ...spec, limit: 3 });
    });
    expect(cost).to.equal(2);
    expect([second.key, second.order]).to.deep.equal([first.key, first.order]);
    expect([first.turn.admitted, second.turn.admitted]).to.deep.equal([false, true]);
    expect(second.otherLimit).to.equal(2);
    const [under2, under3] = [clients.follow(first), clients.follow(second)];
    await eventually('both have a turn', () => under2.turn !== undefined && under3.turn !== undefined);
    expect([under2.turn?.admitted, under3.turn?.admitted]).to.deep.equal([false, true]);
    expect((await session.enqueue({ ...spec, limit: 2 })).turn.admitted).to.equal(false);
    expect(await operator.keysUnder(`${queue}/`)).to.have.length(2);
  });

  it('count as 1 for the entry of a client without permits, such as etcdctl', async () => {
    const queue = freshQueue();
    const etcdctl = lockByEtcdctl(server.endpoint, queue);
    await eventually('etcdctl owns the lock', () => etcdctl.printed().startsWith(`${queue}/`));
    const two = await session.enqueue(newSpec(queue, { limit: 3, permits: 2 }));
    expect(two.turn).to.include({ admitted: true, ahead: 1 });
    expect(two.otherLimit).to.equal(1);
    const one = await session.enqueue(newSpec(queue, { limit: 3 }));
    expect(one.turn).to.deep.equal({ admitted: false, ahead: 2 });
    const turns = clients.follow(one);
    await etcdctl.release();
    await turns.untilAdmitted();
  });

  it('admit a waiter for 59 of 60 permits as soon as 59 holders of one permit have left', async () => {
    const queue = freshQueue();
    const holders = Array.from({ length: 60 }, () => newSpec(queue, { limit: 60 }));
    for (const holder of holders) expect((await session.enqueue(holder)).turn.admitted).to.equal(true);
    const turns = clients.follow(await session.enqueue(newSpec(queue, { limit: 60, permits: 59 })));
    for (const { id } of holders.slice(0, 58)) await session.remove(queue, id);
    safely(() => expect(turns.turn?.admitted).to.equal(false));
    await session.remove(queue, holders[58]!.id);
    await turns.untilAdmitted();
  });
});

describe('an eviction in etcd', () => {
  let server: EtcdService;
  const clients = new Clients();

  before(async () => {
    server = await sharedEtcd('evictions on @queuelock/etcd');
  });
  afterEach(() => clients.close());

  it('needs one request to remove an entry that etcdctl created', async () => {
    const backend = clients.backend({ hosts: server.endpoint });
    const queue = freshQueue();
    const etcdctl = lockByEtcdctl(server.endpoint, queue);
    await eventually('etcdctl owns the lock', () => etcdctl.printed().startsWith(`${queue}/`));
    const session = await clients.session({ hosts: server.endpoint, heartbeatProof: 'verified' });
    const behind = await session.enqueue(newSpec(queue));
    const operator = new Operator(server.endpoint);
    const key = etcdctl.printed().trim();
    const order = await operator.createRevisionOf(key);
    operator.close();
    let evicted: unknown;
    const cost = await requestsOf(server.endpoint, async () => {
      evicted = await backend.evict?.(queue, { key, order });
    });
    expect([evicted, cost]).to.deep.equal([true, 1]);
    await clients.follow(behind).untilAdmitted();
    await etcdctl.release();
  });

  it('resolves with false for an order number of 0 or less, which no entry can have', async () => {
    const backend = clients.backend({ hosts: server.endpoint });
    const queue = freshQueue();
    for (const order of [0n, -1n])
      expect(await backend.evict?.(queue, { key: `${queue}/unknown`, order })).to.equal(false);
  });

  for (const key of ['other/a', 'jobs', 'jobs/nested/a', '.queuelock/a']) {
    it(`refuses the key ${key} in the queue "jobs" and names the missing prefix`, async () => {
      const backend = clients.backend({ hosts: server.endpoint });
      const failure: unknown = await backend
        .evict?.('jobs', { key, order: 1n })
        .catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'INVALID_ARGUMENT');
      expect(failure)
        .to.have.property('message')
        .that.matches(/directly under "jobs\/"/);
    });
  }
});
