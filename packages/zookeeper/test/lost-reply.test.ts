import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, admitted, newQueue, newSpec } from './bench.ts';
import { OpCode, requestsIn } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';

describe('a lost reply of ZooKeeper', () => {
  const bench = new Bench();
  let server: string;
  let proxy: TcpProxy;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('lost replies in @queuelock/zookeeper')).endpoint;
    proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  async function entries(): Promise<readonly string[]> {
    return (await asOperator(server, (zk) => zk.children(`/${queue}`))) ?? [];
  }

  it('to a create leaves one entry, which the repeated enqueue finds', async () => {
    const session = await bench.session(proxy.endpoint);
    await session.remove(queue, newSpec(queue).id);
    await session.enqueue(newSpec(queue));
    const spec = newSpec(queue);
    expect(await losing(proxy, OpCode.create, () => session.enqueue(spec))).to.equal('UNAVAILABLE');
    const there = await entries();
    const placement = await session.enqueue(spec);
    expect(there).to.have.length(2);
    expect(there.map((name) => `/${queue}/${name}`)).to.include(placement.key);
    expect(placement.turn).to.deep.equal({ admitted: false, ahead: 1 });
    expect(await entries()).to.have.members([...there]);
  });

  it('to a create leaves no entry if the caller then removes the entry', async () => {
    const session = await bench.session(proxy.endpoint);
    const spec = newSpec(queue);
    await session.enqueue(newSpec(queue));
    expect(await losing(proxy, OpCode.create, () => session.enqueue(spec))).to.equal('UNAVAILABLE');
    expect(await entries()).to.have.length(2);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect(await entries()).to.have.length(1);
  });

  it('to the read of the new entry leaves the entry at its position', async () => {
    const session = await bench.session(proxy.endpoint);
    const spec = newSpec(queue);
    await session.enqueue(newSpec(queue));
    expect(await losing(proxy, OpCode.exists, () => session.enqueue(spec))).to.equal('UNAVAILABLE');
    const [, second] = [...(await entries())].sort((a, b) => a.slice(-10).localeCompare(b.slice(-10)));
    expect((await session.enqueue(spec)).key).to.equal(`/${queue}/${second!}`);
    expect(await entries()).to.have.length(2);
  });

  it('to a delete leaves the outcome unknown until the removal is repeated', async () => {
    const session = await bench.session(proxy.endpoint);
    const spec = newSpec(queue);
    await session.enqueue(spec);
    expect(await losing(proxy, OpCode.delete, () => session.remove(queue, spec.id))).to.equal('UNAVAILABLE');
    expect(await session.remove(queue, spec.id)).to.equal(false);
    expect(await entries()).to.deep.equal([]);
  });

  it('to a delete does no harm: the repeated removal does not end a later hold of the session', async () => {
    const session = await bench.session(proxy.endpoint);
    const [first, second] = [newSpec(queue), newSpec(queue)];
    await session.enqueue(first);
    const next = await session.enqueue(second);
    expect(await losing(proxy, OpCode.delete, () => session.remove(queue, first.id))).to.equal('UNAVAILABLE');
    await admitted(next);
    expect(await session.remove(queue, first.id)).to.equal(false);
    expect(await entries()).to.deep.equal([next.key.slice(queue.length + 2)]);
    expect(await session.remove(queue, second.id)).to.equal(true);
  });

  it('to a heartbeat makes the next heartbeat prove one TTL from the disconnect on', async () => {
    const session = await bench.session(proxy.endpoint);
    const { signal } = new AbortController();
    const startedAt = performance.now();
    expect(await losing(proxy, OpCode.setData, () => session.renew(signal))).to.equal('UNAVAILABLE');
    const calledAt = performance.now();
    const promised = await session.renew(signal);
    expect(promised).to.be.within(session.ttlMs - (calledAt - startedAt) - 5, session.ttlMs);
  });

  it('to a list request of a waiter makes the waiter send the request again', async () => {
    const holder = await bench.session(server);
    const waiter = await bench.session(proxy.endpoint);
    const [held, middle] = [newSpec(queue), newSpec(queue)];
    await holder.enqueue(held);
    await holder.enqueue(middle);
    const turn = admitted(await waiter.enqueue(newSpec(queue)));
    const trap = proxy.loseNextReply((chunk) => requestsIn(chunk).includes(OpCode.getChildren));
    await holder.remove(queue, held.id);
    await holder.remove(queue, middle.id);
    await trap.lost;
    proxy.cut();
    await turn;
  });
});
