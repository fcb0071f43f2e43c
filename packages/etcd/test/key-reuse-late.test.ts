import type { EntrySpec, Placement, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { benchOf } from './bench.ts';
import { Clients, codeOf, eventually, freshQueue, newSpec } from './clients.ts';
import { keepBack, mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { startOwnServer } from './own-server.ts';
import { keyRequests, requestsOf } from './requests.ts';

const neverAborted = new AbortController().signal;

/**
 * Tests in which cases the backend does not use a key again. A late request of an earlier entry must never
 * affect a later entry with the same key.
 */
describe('the reuse of an etcd key', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;
  let queue: string;
  let spec: EntrySpec;

  beforeEach(() => {
    queue = freshQueue();
    spec = newSpec(queue);
  });

  const direct = (): Promise<Session> =>
    clients.session({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });
  const slow = (): Promise<Session> =>
    clients.session({ hosts: hosts(), requestTimeoutMs: 1_000, heartbeatProof: 'verified' });
  const keys = (): Promise<string[]> => bench.operator.keysUnder(`${queue}/`);

  async function handled(method: string): Promise<number> {
    return (await keyRequests(bench.server.endpoint))[method] ?? 0;
  }

  it('does not happen when the removal was sent twice, since the first removal may still arrive', async () => {
    const session = await slow();
    const { key } = await session.enqueue(spec);
    const before = await handled('DeleteRange');
    const late = keepBack(bench.proxies, mentions(spec.id));
    expect(await codeOf(session.remove(queue, spec.id))).to.equal('UNAVAILABLE');
    expect(late.isInFlight()).to.equal(true);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    const next = await session.enqueue(newSpec(queue));
    expect(next.key).to.not.equal(key);
    late.arrive();
    await eventually('the late one comes', async () => (await handled('DeleteRange')) - before === 2);
    expect(await keys()).to.deep.equal([next.key]);
  });

  it('does not happen when the reply to the removal was lost', async () => {
    const [proxy] = bench.proxies;
    const session = await clients.session({ hosts: proxy.endpoint, heartbeatProof: 'verified' });
    const { key } = await session.enqueue(spec);
    const lost = loseReply(proxy, mentions(spec.id));
    expect(await codeOf(session.remove(queue, spec.id))).to.equal('UNAVAILABLE');
    await lost;
    await eventually(
      'it is known to be gone',
      async () => (await session.remove(queue, spec.id).catch(() => undefined)) === false,
    );
    const next = await session.enqueue(newSpec(queue));
    expect(next.key).to.not.equal(key);
  });

  it('does not happen when two removals were requested at the same time', async () => {
    const session = await direct();
    const { key } = await session.enqueue(spec);
    const removals = await Promise.all([1, 2].map(() => session.remove(queue, spec.id)));
    expect(removals.filter(Boolean)).to.have.length(1);
    expect((await session.enqueue(newSpec(queue))).key).to.not.equal(key);
  });

  it('does not happen when a reply to the creation was lost, since that request may arrive again', async () => {
    const session = await slow();
    const before = await handled('Txn');
    const late = keepBack(bench.proxies, mentions(spec.id));
    expect(await codeOf(session.enqueue(spec))).to.equal('UNAVAILABLE');
    expect(late.isInFlight()).to.equal(true);
    const { key } = await session.enqueue(spec);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    const next = await session.enqueue(newSpec(queue));
    expect(next.key).to.not.equal(key);
    late.arrive();
    await eventually('the late one comes', async () => (await handled('Txn')) - before === 4);
    expect(await keys()).to.deep.equal([next.key]);
  });

  it('does not happen when another client has removed the earlier entry', async () => {
    const session = await direct();
    const { key } = await session.enqueue(spec);
    await bench.operator.remove(key);
    expect(await session.remove(queue, spec.id)).to.equal(false);
    expect((await session.enqueue(newSpec(queue))).key).to.not.equal(key);
  });

  it('does not happen when the entry was converted to a reader', async () => {
    const session = await direct();
    const { key } = await session.enqueue(spec);
    await session.share?.(queue, spec.id, '');
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect((await session.enqueue(newSpec(queue))).key).to.not.equal(key);
  });

  it('does not happen when another client has created the key meanwhile', async () => {
    const session = await direct();
    await session.enqueue(spec);
    await session.remove(queue, spec.id);
    const stolen = `${queue}/${session.id}-${spec.id}`;
    await bench.operator.put(stolen);
    const next = newSpec(queue);
    expect(await codeOf(session.enqueue(next))).to.equal('ENTRY_LOST');
    expect((await session.enqueue(newSpec(queue))).key).to.not.equal(stolen);
    expect(await keys()).to.include(stolen);
  });

  it('does not happen when the removal was refused in a batch and sent again alone', async () => {
    const server = await startOwnServer({ 'max-txn-ops': '8' });
    try {
      const session = await clients.session({ hosts: server.endpoint });
      const queues = Array.from({ length: 20 }, (_, i) => `${queue}/${i}`);
      const enter = async (): Promise<[EntrySpec, Placement][]> => {
        const specs = queues.map((name) => newSpec(name));
        return Promise.all(specs.map(async (one) => [one, await session.enqueue(one)]));
      };
      const first = await enter();
      await Promise.all(first.map(([{ queue: name, id }]) => session.remove(name, id)));
      const second = await enter();
      expect(second.filter(([, { key }], i) => key === first[i]?.[1].key)).to.deep.equal([]);
    } finally {
      await clients.close();
      await server.stop();
    }
  });

  it("happens even if an update of the earlier entry's value may still arrive late", async () => {
    const session = await slow();
    const { key } = await session.enqueue(spec);
    const before = await handled('Txn');
    const late = keepBack(bench.proxies, mentions(spec.id));
    expect(await codeOf(session.update(queue, spec.id, 'late'))).to.equal('UNAVAILABLE');
    expect(await session.remove(queue, spec.id)).to.equal(true);
    const next = await session.enqueue(newSpec(queue));
    expect(next.key).to.equal(key);
    late.arrive();
    await eventually('the late one comes', async () => (await handled('Txn')) - before === 2);
    expect(await bench.operator.under(`${queue}/`)).to.deep.equal({ [key]: '' });
  });
});

describe('a resumed etcd session', () => {
  const bench = benchOf(new Clients());
  const { clients } = bench;
  let queue: string;
  let session: Session;

  beforeEach(async () => {
    queue = freshQueue();
    session = await clients.session({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });
  });

  async function handOver(from: Session): Promise<Session> {
    const { resumption } = from;
    await from.abandon?.();
    const successor = clients.backend({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });
    return successor.resume!(resumption!, neverAborted);
  }

  it('finds its entries at reused keys, and none at the key of an entry that has left', async () => {
    const [earlier, held] = [newSpec(queue), newSpec(queue)];
    await session.enqueue(earlier);
    await session.remove(queue, earlier.id);
    const { key, order } = await session.enqueue(held);
    expect(key).to.include(earlier.id);
    let resumed = await handOver(session);
    resumed = await handOver(resumed);
    expect(await resumed.update(queue, earlier.id, 'unknown')).to.equal(false);
    expect(await resumed.remove(queue, earlier.id)).to.equal(false);
    const again = await resumed.enqueue(earlier);
    expect(again.key).to.not.equal(key);
    expect(again.turn).to.include({ admitted: false, ahead: 1 });
    const found = await resumed.enqueue(held);
    expect([found.key, found.order, found.turn.admitted]).to.deep.equal([key, order, true]);
    expect(await resumed.remove(queue, held.id)).to.equal(true);
    expect(await bench.operator.keysUnder(`${queue}/`)).to.deep.equal([again.key]);
    await resumed.close();
  });

  it('sends no more requests for an entry at a reused key than for any other entry', async () => {
    const [earlier, held] = [newSpec(queue), newSpec(queue)];
    await session.enqueue(earlier);
    await session.remove(queue, earlier.id);
    await session.enqueue(held);
    const resumed = await handOver(session);
    expect(await requestsOf(bench.server.endpoint, () => resumed.enqueue(held))).to.equal(2);
    await resumed.close();
  });

  it('reuses no key of an entry that has left', async () => {
    const visit = async (by: Session): Promise<string> => {
      const spec = newSpec(queue);
      const { key } = await by.enqueue(spec);
      await by.remove(queue, spec.id);
      return key;
    };
    const before = await visit(session);
    expect(await visit(session)).to.equal(before);
    expect(session.resumption).to.be.a('string');
    const keys = [before, await visit(session), await visit(session)];
    const resumed = await handOver(session);
    keys.push(await visit(resumed), await visit(resumed));
    expect(new Set(keys).size).to.equal(5);
    await resumed.close();
  });
});
