import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { sharedEtcd, type EtcdService } from '@queuelock/harness/services';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { lockByEtcdctl } from './etcdctl.ts';
import { Operator } from './operator.ts';
import { requestsOf } from './requests.ts';

// Duration of a hold in milliseconds, below which the holder does not watch its own entry. So a shorter hold needs no watch.
const SHORT_HOLD_MS = 200;

describe('the queues of @queuelock/etcd', () => {
  let server: EtcdService;
  let operator: Operator;
  const clients = new Clients();

  before(async () => {
    server = await sharedEtcd('queues of @queuelock/etcd');
    operator = new Operator(server.endpoint);
  });
  after(() => {
    operator.close();
  });
  afterEach(() => clients.close());

  it('consist of keys NAME/<hex lease>-<id>, which end in ~r for shared entries', async () => {
    const session = await clients.session({ hosts: server.endpoint, prefix: 'team/' });
    const queue = freshQueue();
    const [alone, reader] = [newSpec(queue, { value: 'who' }), newSpec(queue, { shared: true })];
    const first = await session.enqueue(alone);
    const second = await session.enqueue(reader);
    expect(first.key).to.equal(`team/${queue}/${session.id}-${alone.id}`);
    expect(second.key).to.equal(`team/${queue}/${session.id}-${reader.id}~r`);
    expect(await operator.under(`team/${queue}/`)).to.deep.equal({ [first.key]: 'who', [second.key]: '' });
    expect(await operator.leaseOf(first.key)).to.equal(session.id);
    expect(await operator.createRevisionOf(first.key)).to.equal(first.order);
    expect(first.token).to.equal(first.order);
  });

  it('keep an entry on its lease when its value changes', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const spec = newSpec(freshQueue());
    const { key } = await session.enqueue(spec);
    expect(await session.update(spec.queue, spec.id, 'new')).to.equal(true);
    expect(await operator.leaseOf(key)).to.equal(session.id);
    await session.close();
    expect(await operator.keysUnder(`${spec.queue}/`)).to.deep.equal([]);
  });

  it('are shared with etcdctl lock', async () => {
    const queue = freshQueue();
    const session = await clients.session({ hosts: server.endpoint });
    const held = newSpec(queue);
    await session.enqueue(held);
    const etcdctl = lockByEtcdctl(server.endpoint, queue);
    await eventually('etcdctl waits', async () => (await operator.keysUnder(`${queue}/`)).length === 2);
    const behind = await session.enqueue(newSpec(queue));
    expect(behind.turn).to.deep.equal({ admitted: false, ahead: 2 });
    const turns = clients.follow(behind);
    expect(etcdctl.printed()).to.equal('');
    await session.remove(queue, held.id);
    await eventually('etcdctl owns the lock', () => etcdctl.printed().startsWith(`${queue}/`));
    safely(() => expect(turns.turn?.admitted).to.equal(false));
    await etcdctl.release();
    await turns.untilAdmitted();
  });

  it('do not block each other if their names are nested, whichever is used first', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const outer = freshQueue();
    const inner = `${outer}/inner`;
    for (const queue of [inner, `${inner}/most`, outer, `${outer}/`]) {
      expect((await session.enqueue(newSpec(queue))).turn).to.include({ admitted: true, ahead: 0 });
    }
    expect((await session.enqueue(newSpec(outer))).turn).to.deep.equal({ admitted: false, ahead: 1 });
  });

  it('make a reader wait for a writer even if many other readers are between them', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const queue = freshQueue();
    const writer = newSpec(queue);
    await session.enqueue(writer);
    for (let i = 0; i < 40; i += 1) await session.enqueue(newSpec(`${queue}/nested`));
    const reader = await session.enqueue(newSpec(queue, { shared: true }));
    expect(reader.turn).to.deep.equal({ admitted: false, ahead: 1 });
    const turns = clients.follow(reader);
    for (let i = 0; i < 40; i += 1) await session.enqueue(newSpec(queue, { shared: true }));
    expect((await session.enqueue(newSpec(queue, { shared: true }))).turn).to.deep.equal({
      admitted: false,
      ahead: 1,
    });
    await session.remove(queue, writer.id);
    await turns.untilAdmitted();
  });

  it('admit a client that calls tryEnqueue when only nested names have entries', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const queue = freshQueue();
    await session.enqueue(newSpec(`${queue}/nested`));
    const tried = await session.tryEnqueue(newSpec(queue));
    expect(tried?.turn.admitted).to.equal(true);
    expect(await session.tryEnqueue(newSpec(queue))).to.equal(undefined);
    expect(await operator.keysUnder(`${queue}/`)).to.have.length(2);
  });

  it('leave no keys after 1,000 different names were used', async () => {
    const prefix = `${freshQueue()}/`;
    const session = await clients.session({ hosts: server.endpoint, prefix });
    const specs = Array.from({ length: 1_000 }, (_, number) => newSpec(`name-${number}`));
    for (let done = 0; done < specs.length; done += 50) {
      const some = specs.slice(done, done + 50);
      await Promise.all(some.map((one) => session.enqueue(one)));
      expect(await operator.keysUnder(prefix)).to.have.lengthOf(some.length);
      await Promise.all(some.map(({ queue, id }) => session.remove(queue, id)));
    }
    expect(await operator.keysUnder(prefix)).to.deep.equal([]);
  });

  it('cost two requests to lock and release a free lock, and one for tryEnqueue of a held lock', async () => {
    const session = await clients.session({ hosts: server.endpoint, heartbeatProof: 'verified' });
    const queue = freshQueue();
    const holdBriefly = async (): Promise<number> => {
      const spec = newSpec(queue);
      const turns = clients.follow(await session.enqueue(spec));
      const from = performance.now();
      await session.remove(queue, spec.id);
      turns.stop();
      return performance.now() - from;
    };
    // Repeats until a hold was so short that it needed no watch. The watch of a longer hold would count as a third request.
    for (let heldMs = Infinity; heldMs >= SHORT_HOLD_MS;) {
      const free = await requestsOf(server.endpoint, async () => (heldMs = await holdBriefly()));
      if (heldMs < SHORT_HOLD_MS) expect(free).to.equal(2);
    }
    await session.enqueue(newSpec(queue));
    expect(await requestsOf(server.endpoint, () => session.tryEnqueue(newSpec(queue)))).to.equal(1);
  });

  it("need one more request for an enqueue after the key of the session's generation has changed", async () => {
    const options = { hosts: server.endpoint, heartbeatProof: 'verified' } as const;
    const { resumption } = await clients.session(options);
    const session = await clients.backend(options).resume!(resumption!, new AbortController().signal);
    const queue = freshQueue();
    const key = `.queuelock/${session.id}`;
    await operator.touch(key);
    expect(await requestsOf(server.endpoint, () => session.enqueue(newSpec(queue)))).to.equal(2);
    expect(await requestsOf(server.endpoint, () => session.enqueue(newSpec(queue)))).to.equal(1);
    await operator.remove(key);
    expect(await requestsOf(server.endpoint, () => session.enqueue(newSpec(queue)))).to.equal(3);
    expect(await operator.leaseOf(key)).to.equal(session.id);
    expect(await operator.keysUnder(`${queue}/`)).to.have.length(3);
  });
});
