import { expect } from 'chai';
import type { Session } from '@queuelock/core/backend';
import { createMemoryServer, memory, virtualClock, type Intercept } from '@queuelock/memory';
import { codeOf, openSession, recordTurns, newSpec } from './actors.ts';

describe('resuming a session of a memory server', () => {
  const clock = virtualClock();
  const server = createMemoryServer({ clock });

  const resume = (resumption: string): Promise<Session> =>
    memory({ server }).resume!(resumption, new AbortController().signal);

  afterEach(() => {
    server.close();
    expect(clock.timerCount).to.equal(0);
  });

  it('continues the session with its entries and its whole TTL', async () => {
    const backend = memory({ server });
    const abandoned = await openSession(backend, 1_000);
    const spec = newSpec();
    const held = await abandoned.enqueue(spec);
    const waiter = recordTurns((await (await openSession(backend, 60_000)).enqueue(newSpec())).turns$);
    await clock.advance(900);
    await abandoned.abandon!();
    await backend.close();
    const resumed = await resume(abandoned.resumption!);
    await clock.advance(999);
    expect([resumed.id, resumed.ttlMs]).to.deep.equal([abandoned.id, 1_000]);
    const { key, order, token, turn } = await resumed.enqueue(spec);
    expect([key, order, token]).to.deep.equal([held.key, held.order, held.token]);
    expect(turn.admitted).to.equal(true);
    expect(server.entryCount).to.equal(2);
    waiter.stop();
  });

  it('refuses a session that has ended, and a text that describes no session', async () => {
    const session = await openSession(memory({ server }), 1_000);
    await session.abandon!();
    clock.stall(1_000);
    expect(await codeOf(resume(session.resumption!))).to.equal('SESSION_LOST');
    expect(await codeOf(resume('nothing'))).to.equal('INVALID_ARGUMENT');
  });

  it('rejects calls of a client after it has abandoned the session with abandon()', async () => {
    const session = await openSession(memory({ server }));
    await session.abandon!();
    await session.abandon!();
    expect(await codeOf(session.enqueue(newSpec()))).to.equal('CLOSED');
    expect(await codeOf(session.renew(new AbortController().signal))).to.equal('CLOSED');
    await session.close();
    expect(server.sessionIds).to.deep.equal([session.id]);
  });

  it('refuses a request of the earlier client that arrives after the session was resumed', async () => {
    const late: (() => Promise<unknown>)[] = [];
    const slow: Intercept = async (call, proceed) => {
      if (call === 'enqueue') late.push(proceed);
      return call === 'enqueue' ? new Promise(() => undefined) : proceed();
    };
    const first = await openSession(memory({ server, intercept: slow }));
    const spec = newSpec();
    void first.enqueue(spec);
    await first.abandon!();
    const resumed = await resume(first.resumption!);
    expect(await resumed.remove('q', spec.id)).to.equal(false);
    for (const arrive of late) expect(await codeOf(arrive())).to.equal('SESSION_LOST');
    expect(server.entryCount).to.equal(0);
  });
});
