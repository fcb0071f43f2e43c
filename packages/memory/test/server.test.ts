import { expect } from 'chai';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { codeOf, openSession, record, recordTurns, newSpec } from './actors.ts';

describe('a memory server', () => {
  const clock = virtualClock();
  const server = createMemoryServer({ clock });
  const backend = memory({ server });

  afterEach(async () => {
    server.close();
    await clock.advance(0);
    expect(server.entryCount).to.equal(0);
    expect(clock.timerCount).to.equal(0);
  });

  it('grants the next entry synchronously within the call that releases', async () => {
    const session = await openSession(backend);
    const [first, second] = [newSpec(), newSpec()];
    await session.enqueue(first);
    const turns = recordTurns((await session.enqueue(second)).turns$);
    void session.remove('q', first.id);
    expect(turns.seen).to.deep.equal([false, true]);
    turns.stop();
  });

  it('admits a waiter whose predecessor left before any client subscribed to its turns', async () => {
    const session = await openSession(backend);
    const [first, second] = [newSpec(), newSpec()];
    await session.enqueue(first);
    const placement = await session.enqueue(second);
    await session.remove('q', first.id);
    const turns = recordTurns(placement.turns$);
    expect(turns.seen).to.deep.equal([true]);
    turns.stop();
  });

  it('notifies exactly one waiter of each release of an exclusive lock', async () => {
    const session = await openSession(backend);
    const specs = Array.from({ length: 50 }, () => newSpec());
    for (const one of specs) await session.enqueue(one);
    const before = server.wakeUps;
    for (const [place, { id }] of specs.entries()) {
      expect(server.wakeUps - before).to.equal(place);
      await session.remove('q', id);
    }
    expect(server.wakeUps - before).to.equal(49);
  });

  it('notifies no waiter when a waiter behind the first one leaves', async () => {
    const session = await openSession(backend);
    const specs = [newSpec(), newSpec(), newSpec(), newSpec()] as const;
    for (const one of specs) await session.enqueue(one);
    const before = server.wakeUps;
    await session.remove('q', specs[1].id);
    await session.remove('q', specs[3].id);
    expect(server.wakeUps).to.equal(before);
  });

  it('reports the number of conflicting entries ahead', async () => {
    const session = await openSession(backend);
    await session.enqueue(newSpec({ shared: true }));
    await session.enqueue(newSpec({ shared: true }));
    expect((await session.enqueue(newSpec())).turn).to.deep.equal({ admitted: false, ahead: 2 });
    expect((await session.enqueue(newSpec({ shared: true }))).turn).to.deep.equal({
      admitted: false,
      ahead: 1,
    });
  });

  it('ends a session at its TTL after the last renewal, to the millisecond', async () => {
    const [dying, waiting] = [await openSession(backend, 1_000), await openSession(backend, 60_000)];
    const dead = recordTurns((await dying.enqueue(newSpec())).turns$);
    const next = recordTurns((await waiting.enqueue(newSpec())).turns$);
    await clock.advance(900);
    expect(await dying.renew(new AbortController().signal)).to.equal(1_000);
    await clock.advance(999);
    expect(next.seen).to.deep.equal([false]);
    await clock.advance(1);
    expect(dead.seen).to.deep.equal([true, 'SESSION_LOST']);
    expect(next.seen).to.deep.equal([false, true]);
  });

  it('notifies the clients of lost sessions before it admits waiters', async () => {
    const [dying, waiting] = [await openSession(backend), await openSession(backend)];
    const notified: string[] = [];
    (await dying.enqueue(newSpec())).turns$.subscribe({ error: () => notified.push('dead') });
    (await waiting.enqueue(newSpec())).turns$.subscribe({
      next: ({ admitted }) => notified.push(admitted ? 'admitted' : 'waits'),
      error: () => undefined,
    });
    expect(server.expireSession(dying.id)).to.equal(true);
    expect(notified).to.deep.equal(['waits', 'dead', 'admitted']);
    expect(server.expireSession(dying.id)).to.equal(false);
  });

  it('does not revive an expired session whose timer is late', async () => {
    const session = await openSession(backend, 1_000);
    await session.enqueue(newSpec());
    clock.stall(1_000);
    expect(await codeOf(session.renew(new AbortController().signal))).to.equal('SESSION_LOST');
    expect(server.entryCount).to.equal(0);
  });

  it('does not end a session early when the clock jumps by less than its TTL', async () => {
    const session = await openSession(backend, 1_000);
    await session.enqueue(newSpec());
    clock.stall(999);
    expect(await session.renew(new AbortController().signal)).to.equal(1_000);
    await clock.advance(999);
    expect(server.entryCount).to.equal(1);
  });

  it('returns tokens that grow over all queues and sessions, even after all queues were empty', async () => {
    let last = 0n;
    for (const queue of ['a', 'b', 'a', 'a']) {
      const session = await openSession(backend);
      const { token, order } = await session.enqueue(newSpec({ queue }));
      expect(token).to.equal(order);
      expect(token > last).to.equal(true);
      last = token;
      await session.close();
    }
  });

  it('shows the entries of each queue', async () => {
    const session = await openSession(backend);
    const [holder, waiter] = [newSpec({ value: 'me' }), newSpec({ shared: true })];
    const { key, order } = await session.enqueue(holder);
    await session.enqueue(waiter);
    await session.enqueue(newSpec({ queue: 'other' }));
    expect([...server.queues().keys()]).to.deep.equal(['q', 'other']);
    const entries = server.queues().get('q') ?? [];
    expect(entries[0]).to.deep.equal({
      key,
      order,
      shared: false,
      value: 'me',
      id: holder.id,
      sessionId: session.id,
      limit: 1,
      permits: 1,
      admitted: true,
    });
    expect(entries[1]).to.include({ id: waiter.id, shared: true, value: '', admitted: false });
    expect(server.entryCount).to.equal(3);
  });

  it('gives different keys to entries of nested names, such as a, a/1 and a/1/2', async () => {
    const session = await openSession(backend);
    const keys = new Set<string>();
    for (const queue of ['a', 'a/1', 'a/1/2', 'a']) keys.add((await session.enqueue(newSpec({ queue }))).key);
    expect(keys.size).to.equal(4);
    for (const key of keys) expect(server.evict(key)).to.equal(true);
    expect(server.evict('a/1')).to.equal(false);
  });

  it('keeps no queue, subscription or timer of clients that have left', async () => {
    const session = await openSession(backend);
    for (let round = 0; round < 100; round += 1) {
      const spec = newSpec({ queue: `q${round}` });
      const turns = recordTurns((await session.enqueue(spec)).turns$);
      const seen = record(backend.observe(spec.queue));
      expect(server.watcherCount).to.equal(2);
      turns.stop();
      seen.stop();
      await session.remove(spec.queue, spec.id);
    }
    expect(server.watcherCount).to.equal(0);
    expect(server.queues().size).to.equal(0);
    await session.close();
    expect(server.sessionIds).to.deep.equal([]);
    expect(clock.timerCount).to.equal(0);
  });

  it('allows a subscriber to call the server while it receives an event', async () => {
    const session = await openSession(backend);
    const [first, second, third] = [newSpec(), newSpec(), newSpec()];
    await session.enqueue(first);
    const chained = await session.enqueue(second);
    const last = recordTurns((await session.enqueue(third)).turns$);
    const snapshots = record(backend.observe('q'));
    chained.turns$.subscribe({
      next: ({ admitted }) => {
        if (admitted) void session.remove('q', second.id);
      },
      error: () => undefined,
    });
    await session.remove('q', first.id);
    expect(last.seen).to.deep.equal([false, true]);
    expect(snapshots.seen.at(-1)).to.have.length(1);
    last.stop();
    snapshots.stop();
  });

  it('refuses an invalid TTL', async () => {
    for (const ttlMs of [0, 9, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(await codeOf(openSession(backend, ttlMs))).to.equal('INVALID_ARGUMENT');
    }
  });
});
