import { safely } from '@queuelock/conformance';
import type { EntrySpec, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { benchOf } from './bench.ts';
import { Clients, codeOf, eventually, freshQueue, newSpec } from './clients.ts';
import { keepBack, mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { startOwnServer } from './own-server.ts';
import { handledTxns, keyRequests } from './requests.ts';

function newSpecs(count: number): EntrySpec[] {
  const parent = freshQueue();
  return Array.from({ length: count }, (_, i) => newSpec(`${parent}/${i}`));
}

describe('many locks of one process on etcd', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;

  const direct = (): Promise<Session> =>
    clients.session({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });
  const slow = (): Promise<Session> => clients.session({ hosts: hosts(), requestTimeoutMs: 1_000 });
  const keysOf = (specs: readonly EntrySpec[]): Promise<string[]> =>
    bench.operator.keysUnder(`${specs[0]?.queue.split('/')[0] ?? ''}/`);

  async function requestsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const before = await keyRequests(bench.server.endpoint);
    await work();
    const after = await keyRequests(bench.server.endpoint);
    return Object.fromEntries(
      Object.entries(after).map(([method, count]) => [method, count - (before[method] ?? 0)]),
    );
  }

  const enter = (session: Session, specs: readonly EntrySpec[]): Promise<boolean[]> =>
    Promise.all(specs.map(async (spec) => (await session.enqueue(spec)).turn.admitted));
  const leave = (session: Session, specs: readonly EntrySpec[]): Promise<boolean[]> =>
    Promise.all(specs.map(({ queue, id }) => session.remove(queue, id)));

  it('are acquired in one transaction, and released in another', async () => {
    const session = await direct();
    const specs = newSpecs(50);
    const all = Array.from(specs, () => true);
    expect(
      await requestsOf(async () => expect(await enter(session, specs)).to.deep.equal(all)),
    ).to.deep.equal({ Range: 0, Put: 0, DeleteRange: 0, Txn: 1 });
    expect(
      await requestsOf(async () => expect(await leave(session, specs)).to.deep.equal(all)),
    ).to.deep.equal({ Range: 0, Put: 0, DeleteRange: 0, Txn: 1 });
    expect(await keysOf(specs)).to.deep.equal([]);
  });

  it('need one request each when the client acquires one after another', async () => {
    const session = await direct();
    const cost = await requestsOf(async () => {
      for (const spec of newSpecs(3)) {
        await session.enqueue(spec);
        await session.remove(spec.queue, spec.id);
      }
    });
    expect(cost).to.deep.equal({ Range: 0, Put: 0, DeleteRange: 3, Txn: 3 });
  });

  it('get different order numbers if they are of one queue, and only the first is admitted', async () => {
    const session = await direct();
    const queue = freshQueue();
    const placements = await Promise.all([1, 2, 3].map(() => session.enqueue(newSpec(queue))));
    safely(() => expect(new Set(placements.map(({ order }) => order)).size).to.equal(3));
    safely(() => expect(placements.filter(({ turn }) => turn.admitted)).to.have.length(1));
  });

  it('are acquired in one batch, except a lock whose key already belongs to another client', async () => {
    const session = await direct();
    const specs = newSpecs(5);
    const [, , odd] = specs as [EntrySpec, EntrySpec, EntrySpec];
    await bench.operator.put(`${odd.queue}/${session.id}-${odd.id}`);
    const codes = await Promise.all(specs.map((spec) => codeOf(session.enqueue(spec))));
    expect(codes).to.deep.equal([undefined, undefined, 'ENTRY_LOST', undefined, undefined]);
    expect(await leave(session, specs)).to.deep.equal([true, true, false, true, true]);
    expect(await keysOf(specs), 'the key of another client').to.have.length(1);
  });

  it('keep their entries when they are requested again after a lost reply', async () => {
    const session = await clients.session({ hosts: bench.proxies[0].endpoint });
    const specs = newSpecs(4);
    const lost = loseReply(bench.proxies[0], mentions(specs[0]!.id));
    const codes = await Promise.all(specs.map((spec) => codeOf(session.enqueue(spec))));
    expect(codes).to.deep.equal(Array.from(specs, () => 'UNAVAILABLE'));
    await lost;
    const keys = await keysOf(specs);
    expect(keys).to.have.length(4);
    expect(await enter(session, specs)).to.deep.equal([true, true, true, true]);
    expect(await keysOf(specs)).to.deep.equal(keys);
  });

  it('leave no entries when they are cancelled while their transaction is in flight', async () => {
    const session = await slow();
    const specs = newSpecs(3);
    const before = await handledTxns(bench.server.endpoint);
    const late = keepBack(bench.proxies, mentions(specs[1]!.id));
    const entering = specs.map((spec) => codeOf(session.enqueue(spec)));
    await eventually('the transaction is on its way', late.isInFlight);
    expect(await leave(session, specs.slice(1))).to.deep.equal([false, false]);
    expect(await Promise.all(entering)).to.deep.equal(Array.from(specs, () => 'UNAVAILABLE'));
    late.arrive();
    await eventually('it arrives', async () => (await handledTxns(bench.server.endpoint)) - before >= 3);
    expect(await keysOf(specs)).to.deep.equal([]);
    expect(await enter(session, specs.slice(0, 1))).to.deep.equal([true]);
  });

  it('are not part of the batch if they are cancelled before it is sent', async () => {
    const session = await direct();
    const specs = newSpecs(4);
    const codes = Promise.all(specs.map((spec) => codeOf(session.enqueue(spec))));
    expect(await leave(session, specs.slice(0, 2))).to.deep.equal([false, false]);
    expect(await codes).to.deep.equal(['ENTRY_LOST', 'ENTRY_LOST', undefined, undefined]);
    expect(await keysOf(specs)).to.have.length(2);
  });

  it('are released in one batch, even if one entry no longer exists or the reply is lost', async () => {
    const session = await clients.session({ hosts: bench.proxies[0].endpoint });
    const specs = newSpecs(4);
    await enter(session, specs);
    await bench.operator.remove((await keysOf(specs))[2] ?? '');
    expect((await leave(session, specs)).filter(Boolean)).to.have.length(3);
    await enter(session, specs);
    const lost = loseReply(bench.proxies[0], mentions(specs[0]!.id));
    const codes = await Promise.all(specs.map(({ queue, id }) => codeOf(session.remove(queue, id))));
    expect(codes).to.deep.equal(Array.from(specs, () => 'UNAVAILABLE'));
    await lost;
    expect(await leave(session, specs)).to.deep.equal([false, false, false, false]);
  });

  it('are acquired and released on a server that limits the operations of a transaction', async () => {
    const server = await startOwnServer({ 'max-txn-ops': '8' });
    try {
      const session = await clients.session({ hosts: server.endpoint });
      const specs = newSpecs(20);
      const all = Array.from(specs, () => true);
      expect(await enter(session, specs)).to.deep.equal(all);
      expect(await leave(session, specs)).to.deep.equal(all);
    } finally {
      await clients.close();
      await server.stop();
    }
  });
});
