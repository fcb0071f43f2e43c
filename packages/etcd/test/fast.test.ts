import { expect } from 'chai';
import { safely } from '@queuelock/conformance';
import type { Session } from '@queuelock/core/backend';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { codeOf, eventually, freshQueue, newSpec } from './clients.ts';
import { FastBench, type QueuedEntry } from './fast-bench.ts';
import { keyRequests } from './requests.ts';

const LISTED = 20;

describe('an etcd queue with naming fast', () => {
  const bench = new FastBench();
  let session: Session;
  let other: Session;

  beforeEach(async () => {
    [session, other] = [await bench.open(), await bench.open()];
  });

  async function requestsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const before = await keyRequests(bench.at.server.endpoint);
    await work();
    const after = await keyRequests(bench.at.server.endpoint);
    const requested = Object.entries(after).map(([method, count]) => [method, count - (before[method] ?? 0)]);
    return Object.fromEntries(requested.filter(([, count]) => count !== 0)) as Record<string, number>;
  }

  /** Enqueues `count` entries of the session, one after another. */
  async function enqueueMany(by: Session, count: number): Promise<QueuedEntry[]> {
    const positions: QueuedEntry[] = [];
    while (positions.length < count) positions.push(await bench.enter(by));
    return positions;
  }

  it('has entries whose keys sort behind all other keys of the queue', async () => {
    const positions = await enqueueMany(session, 2);
    const keys = positions.map(({ placement }) => placement.key);
    for (const [i, { spec }] of positions.entries())
      expect(keys[i]).to.equal(`${bench.queue}/~0.${session.id}-${spec.id}`);
    expect(await bench.keys()).to.deep.equal(keys);
    expect(await bench.tail()).to.equal(keys[1]);
  });

  it('needs one request to add an entry and one to remove it while the lock is free', async () => {
    for (const by of [session, other, session, session]) {
      let position: QueuedEntry | undefined;
      expect(await requestsOf(async () => (position = await bench.enter(by)))).to.deep.equal({ Txn: 1 });
      expect(position?.placement.turn).to.include({ admitted: true, ahead: 0 });
      expect(await requestsOf(() => bench.leave(position!))).to.deep.equal({ Txn: 1 });
      expect([await bench.keys(), await bench.tail()]).to.deep.equal([[], undefined]);
    }
  });

  it('reports the position of a waiter only with up to 20 entries ahead', async () => {
    const positions = await enqueueMany(session, LISTED + 3);
    const reported = positions.map(({ placement }) => placement.turn.ahead);
    expect(reported).to.deep.equal([
      ...Array.from({ length: LISTED + 1 }, (_, i) => i),
      undefined,
      undefined,
    ]);
  });

  it('adds an entry by one request, whose size is the same behind 30 and 300 entries', async () => {
    await enqueueMany(other, 30);
    const [proxy] = bench.at.proxies;
    const near = await bench.open('fast', [proxy.endpoint]);
    await bench.enter(near);
    const bytesOf = async (): Promise<number> => {
      const before = proxy.toClient.bytes + proxy.toServer.bytes;
      expect(await requestsOf(() => bench.enter(near))).to.deep.equal({ Txn: 1 });
      return proxy.toClient.bytes + proxy.toServer.bytes - before;
    };
    const few = await bytesOf();
    await enqueueMany(other, 270);
    expect((await bytesOf()) / few).to.be.within(0.9, 1.1);
  });

  it('admits its entries in order, one at a time, when it is long', async () => {
    const sessions = [session, other, await bench.open()];
    const positions: QueuedEntry[] = [];
    for (let i = 0; i < 30; i += 1) positions.push(await bench.enter(sessions[i % 3]!));
    const turns = positions.map((position) => bench.follow(position));
    for (const [i, place] of positions.entries()) {
      await turns[i]!.untilAdmitted();
      safely(() => expect(turns.slice(i + 1).filter(({ turn }) => turn?.admitted)).to.deep.equal([]));
      turns[i]!.stop();
      expect(await bench.leave(place)).to.equal(true);
    }
    expect([await bench.keys(), await bench.tail()]).to.deep.equal([[], undefined]);
  });

  it('needs only one request, a removal, for a hand-off between clients of one process', async () => {
    await bench.makeLong();
    const positions = await enqueueMany(session, 4);
    const turns = positions.map((position) => bench.follow(position));
    await turns[0]!.untilAdmitted();
    // Each waiter watches two keys, and the holder only its own key. So with all watches live, the server has `2 * positions.length - 1` of them.
    await eventually('all watches are live', async () => {
      const metrics = await etcdMetrics(bench.at.server.endpoint);
      return sumOf(metrics, 'etcd_debugging_mvcc_watcher_total') >= 2 * positions.length - 1;
    });
    await eventually('nothing is asked any more', async () => {
      const requested = await requestsOf(() => new Promise((resolve) => setTimeout(resolve, 50)));
      return Object.keys(requested).length === 0;
    });
    const cost = await requestsOf(async () => {
      for (const [i, position] of positions.slice(0, 3).entries()) {
        await bench.leave(position);
        await turns[i + 1]!.untilAdmitted();
      }
    });
    expect(cost).to.deep.equal({ DeleteRange: 3 });
  });

  it('does not admit a waiter whose predecessor was cancelled while an earlier entry is still in the queue', async () => {
    await bench.makeLong();
    const [first, middle, last] = [
      await bench.enter(other),
      await bench.enter(other),
      await bench.enter(session),
    ];
    expect(last.placement.turn).to.deep.equal({ admitted: false });
    const turns = bench.follow(last);
    expect(await bench.leave(middle)).to.equal(true);
    await eventually('it has looked', () => turns.turn?.ahead === 1);
    expect(turns.turn).to.deep.equal({ admitted: false, ahead: 1 });
    await bench.leave(first);
    await turns.untilAdmitted();
  });

  it('admits a new entry when the tail still names an entry that has left', async () => {
    await bench.makeLong();
    const turns = bench.follow(await bench.enter(session));
    await turns.untilAdmitted();
    expect(turns.turn).to.include({ admitted: true, ahead: 0 });
  });

  for (const [about, goes] of [
    ['was cancelled', (position: QueuedEntry) => bench.leave(position)],
    ['was removed by an operator', ({ placement }: QueuedEntry) => bench.at.operator.remove(placement.key)],
    [
      'has lost its session, and the tail with it',
      (position: QueuedEntry) => bench.at.operator.revoke(position.session.id),
    ],
    [
      'was evicted',
      ({ placement }: QueuedEntry) =>
        bench.at.clients.backend({ hosts: bench.at.server.endpoint }).evict!(bench.queue, placement),
    ],
  ] as const) {
    it(`makes a new entry wait for the remaining entries when the newest entry ahead ${about}`, async () => {
      await bench.makeLong();
      const first = await bench.enter(other);
      await goes(await bench.enter(await bench.open()));
      const turns = bench.follow(await bench.enter(session));
      await eventually('it has looked', () => turns.turn?.ahead === 1);
      expect(turns.turn?.admitted).to.equal(false);
      await bench.leave(first);
      await turns.untilAdmitted();
    });
  }

  it('keeps its tail when an entry is cancelled in a long queue, and removes it in a short one', async () => {
    const [, short] = await enqueueMany(session, 2);
    await bench.leave(short!);
    expect(await bench.tail()).to.equal(undefined);
    const positions = await enqueueMany(session, LISTED + 1);
    await bench.leave(positions.at(-1)!);
    expect(await bench.tail()).to.equal(positions.at(-1)?.placement.key);
  });

  it('distinguishes a new entry from the predecessor of a waiter when both have the same key', async () => {
    await bench.makeLong();
    const first = await bench.enter(other);
    const removed = await bench.enter(session);
    const waiter = await bench.enter(other);
    await bench.leave(removed);
    const behind = await bench.enter(session);
    expect(behind.placement.key).to.equal(removed.placement.key);
    const [turns, turnsBehind] = [bench.follow(waiter), bench.follow(behind)];
    await eventually('the waiter has looked', () => turns.turn?.ahead === 1);
    await bench.leave(first);
    await turns.untilAdmitted();
    safely(() => expect(turnsBehind.turn).to.deep.equal({ admitted: false }));
    await bench.leave(waiter);
    await turnsBehind.untilAdmitted();
  });

  it('makes an entry wait for earlier ones even if the tail names a removed entry with its key', async () => {
    await bench.makeLong();
    const first = await bench.enter(other);
    const before = await bench.enter(session);
    await bench.leave(before);
    expect(await bench.tail()).to.equal(before.placement.key);
    const again = await bench.enter(session);
    expect(again.placement.key).to.equal(before.placement.key);
    const turns = bench.follow(again);
    await eventually('it has looked', () => turns.turn?.ahead === 1);
    await bench.leave(first);
    await turns.untilAdmitted();
  });

  it('admits an entry of tryEnqueue only when the queue is empty, whatever the tail contains', async () => {
    await bench.makeLong();
    const held = newSpec(bench.queue);
    const { turn, key } = (await session.tryEnqueue(held))!;
    expect([turn.admitted, await bench.tail()]).to.deep.equal([true, key]);
    expect(await other.tryEnqueue(newSpec(bench.queue))).to.equal(undefined);
    const turns = bench.follow(await bench.enter(other));
    expect(turns.turn?.admitted).to.equal(false);
    await session.remove(bench.queue, held.id);
    await turns.untilAdmitted();
  });

  it('admits one entry at a time, in order, when several were enqueued in one tick', async () => {
    await bench.makeLong();
    const positions = await Promise.all([session, session, session, other].map((by) => bench.enter(by)));
    const orders = positions.map(({ placement }) => placement.order);
    safely(() => expect(new Set(orders).size).to.equal(4));
    const turns = positions.map((position) => bench.follow(position));
    await eventually('one is admitted', () => turns.some(({ turn }) => turn?.admitted));
    for (const order of orders.toSorted((a, b) => Number(a - b))) {
      const i = orders.indexOf(order);
      await turns[i]!.untilAdmitted();
      safely(() => expect(turns.filter(({ turn }) => turn?.admitted)).to.have.length(1));
      turns[i]!.turn = undefined;
      await bench.leave(positions[i]!);
    }
  });

  it('gets an entry in one transaction together with the entries of 49 other queues', async () => {
    const specs = Array.from({ length: 50 }, (_, i) => newSpec(`${bench.queue}/${i}`));
    const enter = requestsOf(() => Promise.all(specs.map((spec) => session.enqueue(spec))));
    expect(await enter).to.deep.equal({ Txn: 1 });
    expect(await bench.keys()).to.have.length(50);
    const left: boolean[] = [];
    const leave = requestsOf(async () => {
      left.push(...(await Promise.all(specs.map(({ queue, id }) => session.remove(queue, id)))));
    });
    expect(await leave).to.deep.equal({ Txn: 1 });
    expect(new Set(left)).to.deep.equal(new Set([true]));
    expect(await bench.at.operator.under('.queuelock/tail/')).to.deep.equal({});
  });

  it('gets its entry of a multi-lock at the same revision as the other queues', async () => {
    const names = [bench.queue, freshQueue(), freshQueue()];
    const mixed = await bench.at.clients.session({
      hosts: bench.at.server.endpoint,
      naming: (queue) => (queue === names[1] ? 'go' : 'fast'),
    });
    await bench.makeLong();
    const held = await bench.enter(other);
    const specs = names.map((name) => newSpec(name));
    const placements = (await mixed.enqueueAll?.(specs)) ?? [];
    expect(new Set(placements.map(({ order }) => order)).size).to.equal(1);
    expect(placements.map(({ key }) => key.includes('/~'))).to.deep.equal([true, false, true]);
    expect(placements.map(({ turn }) => turn.admitted)).to.deep.equal([false, true, true]);
    const turns = bench.at.clients.follow(placements[0]!);
    await bench.leave(held);
    await turns.untilAdmitted();
  });

  it('gets an entry in one call with 42 shared entries of other queues', async () => {
    const mixed = await bench.at.clients.session({
      hosts: bench.at.server.endpoint,
      naming: (queue) => (queue === bench.queue ? 'fast' : 'go'),
    });
    const readers = Array.from({ length: 42 }, (_, i) => newSpec(`${bench.queue}-${i}`, { shared: true }));
    const placements = (await mixed.enqueueAll?.([newSpec(bench.queue), ...readers])) ?? [];
    expect(placements.map(({ turn }) => turn.admitted)).to.deep.equal(Array.from(placements, () => true));
  });

  it('lets the process that resumes a session find and remove its entries', async () => {
    await bench.makeLong();
    const first = await bench.enter(session);
    const second = await bench.enter(session);
    const { resumption } = session;
    await session.abandon?.();
    const successor = bench.at.clients.backend({ hosts: bench.at.server.endpoint, naming: 'fast' });
    const resumed = await successor.resume!(resumption!, new AbortController().signal);
    const found = await resumed.enqueue(second.spec);
    expect(found).to.include({ key: second.placement.key, order: second.placement.order });
    expect(found.turn).to.deep.equal({ admitted: false, ahead: 1 });
    for (const { spec } of [first, second]) expect(await resumed.remove(bench.queue, spec.id)).to.equal(true);
    expect(await bench.keys()).to.deep.equal([]);
    await resumed.close();
  });

  for (const more of [{ shared: true }, { limit: 2 }, { limit: 3, permits: 2 }]) {
    it(`refuses an enqueue with ${JSON.stringify(more)}, and leaves no key`, async () => {
      for (const entering of [
        session.enqueue(newSpec(bench.queue, more)),
        session.tryEnqueue(newSpec(bench.queue, more)),
      ])
        expect(await codeOf(entering)).to.equal('INVALID_ARGUMENT');
      expect([await bench.keys(), await bench.tail()]).to.deep.equal([[], undefined]);
    });
  }

  it('admits readers of naming go, but no writer, behind a writer that was downgraded', async () => {
    const writer = await bench.enter(session, { value: 'writes' });
    const plain = await bench.open('go');
    const reader = bench.follow(await bench.enter(plain, { shared: true }));
    const next = bench.follow(await bench.enter(other));
    expect(await session.share?.(bench.queue, writer.spec.id, 'reads')).to.equal(true);
    await reader.untilAdmitted();
    safely(() => expect(next.turn?.admitted).to.equal(false));
    const again = await session.enqueue({ ...writer.spec, shared: true });
    expect(again.order).to.equal(writer.placement.order);
    expect(await bench.leave(writer)).to.equal(true);
    expect(await bench.at.operator.under('.queuelock/shared/')).to.deep.equal({});
  });

  it('is refused if it has a single key', () => {
    const backend = bench.at.clients.backend({
      hosts: bench.at.server.endpoint,
      naming: 'fast',
      singleKey: (queue) => (queue === 'old' ? 'key' : undefined),
    });
    backend.checkName('new');
    expect(() => backend.checkName('old'))
      .to.throw(/naming is go as long as "old" has a single key/)
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it('may get its naming from a function, and is refused if that returns an unknown naming', () => {
    const backend = bench.at.clients.backend({ hosts: 'nowhere', naming: () => 'java' as 'go' });
    expect(() => backend.checkName('jobs'))
      .to.throw(/naming\("jobs"\) is one of go, fast; got "java"/)
      .with.property('code', 'INVALID_ARGUMENT');
  });
});
