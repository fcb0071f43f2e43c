import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { repeatUntilDefinite, type Placement, type Session } from '@queuelock/core/backend';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { faultsOn } from '@queuelock/harness/store-faults';
import { redis } from '@queuelock/redis';
import { SCRIPTS } from '../src/queue/scripts.ts';
import { admitted, lost, refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const WITHIN_MS = 30_000;

/** Sends heartbeats of a session until one gets a reply, as the core does. */
function renewed(session: Session): Promise<number> {
  return repeatUntilDefinite(() => session.renew(signal), AbortSignal.timeout(WITHIN_MS));
}

function again(session: Session, spec: ReturnType<typeof newSpec>): Promise<Placement> {
  return repeatUntilDefinite(() => session.enqueue(spec), AbortSignal.timeout(WITHIN_MS));
}

describe('Redis under faults', () => {
  const clients = new Clients({ appendonly: 'yes' });

  faultsOn(() => ({
    server: clients.server,
    urlAt: (endpoint) => `redis://${endpoint}`,
    module: import.meta.resolve('@queuelock/redis'),
    name: 'redis',
    backend: redis,
    isStep: (chunk, id) => chunk.includes(id),
    entries: (queue) => clients.operator.redis.zcard(clients.operator.key(`line:${queue}`)),
    forget: async (queue) => {
      await clients.operator.redis.del(clients.operator.key(`line:${queue}`));
    },
    reconnect: async () => undefined,
  }));
});

describe('a Redis with an append-only file', () => {
  const clients = new Clients({ appendonly: 'yes' });

  it('that is killed and restarted keeps the hold and the position of a waiter', async () => {
    const holder = await clients.session();
    const waiter = await clients.session();
    const [held, waits] = [newSpec(), newSpec()];
    const before = await holder.enqueue(held);
    const waiting = await waiter.enqueue(waits);
    const turn = admitted(waiting);
    await clients.server.kill();
    await clients.server.restart();
    await renewed(holder);
    await renewed(waiter);
    const after = await again(holder, held);
    expect(after).to.include({ order: before.order, token: before.token });
    expect(after.turn.admitted).to.equal(true);
    expect(await again(waiter, waits)).to.deep.include({
      order: waiting.order,
      turn: { admitted: false, ahead: 1 },
    });
    expect(await repeatUntilDefinite(() => holder.remove('jobs', held.id), signal)).to.equal(true);
    await turn;
  }).timeout(WITHIN_MS * 2);

  it('that is paused for less than the TTL loses no lock', async () => {
    const backend = clients.connect({ requestTimeoutMs: 300 });
    const holder = await clients.session(backend);
    const waiter = await clients.session();
    const held = newSpec();
    await holder.enqueue(held);
    const turn = admitted(await waiter.enqueue(newSpec()));
    await clients.server.freeze();
    try {
      const { code, message } = await refusal(holder.renew(signal));
      expect(code).to.equal('UNAVAILABLE');
      expect(message).to.contain(`redis://${clients.server.endpoint} did not respond within 300 ms`);
      expect(await refusal(holder.remove('jobs', held.id))).to.have.property('code', 'UNAVAILABLE');
    } finally {
      await clients.server.thaw();
    }
    await renewed(holder);
    await repeatUntilDefinite(() => holder.remove('jobs', held.id), signal);
    await turn;
  }).timeout(WITHIN_MS);

  it('that is paused for longer than the TTL reports SESSION_LOST to the holder', async () => {
    const ttlMs = 400;
    const holder = await clients.session(clients.connect({ requestTimeoutMs: 300 }), ttlMs);
    const waiter = await clients.session();
    const placement = await holder.enqueue(newSpec());
    const loss = lost(placement);
    const turn = admitted(await waiter.enqueue(newSpec()));
    await clients.server.freeze();
    const frozenAt = performance.now();
    try {
      while (performance.now() - frozenAt < 2 * ttlMs) await refusal(holder.renew(signal));
    } finally {
      await clients.server.thaw();
    }
    await turn;
    expect(await refusal(renewed(holder))).to.have.property('code', 'SESSION_LOST');
    expect(await loss).to.equal('SESSION_LOST');
  }).timeout(WITHIN_MS);
});

describe('a Redis without persistence', () => {
  const clients = new Clients();

  it('that restarts without its data reports SESSION_LOST to the holder', async () => {
    const locks = createLockClient(clients.connect(), { ttlMs: 10_000 });
    const ownership = await locks.acquire('report');
    const loss = new Promise((resolve) => {
      ownership.signal.addEventListener('abort', () => resolve(ownership.signal.reason));
    });
    await clients.server.kill();
    await clients.server.restart();
    const reason = await loss;
    expect(reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'session-lost' });
    // Checks that the hold of the next client gets a larger fencing token.
    const next = await locks.acquire('report');
    expect(next.token > ownership.token).to.equal(true);
    await next.release();
    await locks.close();
  }).timeout(WITHIN_MS);
});

describe('a connection to Redis', () => {
  const clients = new Clients();
  let proxy: TcpProxy;

  beforeEach(async () => {
    proxy = await startProxy(clients.server.endpoint);
  });
  afterEach(() => proxy.stop());

  function through(requestTimeoutMs = 1_500): Promise<Session> {
    return clients.session(clients.connect({ url: `redis://${proxy.endpoint}`, requestTimeoutMs }));
  }

  it('that breaks makes its session suspect immediately', async () => {
    const session = await through();
    const doubt = new Promise<void>((resolve) => {
      session.doubts$?.subscribe(() => resolve());
    });
    proxy.cut();
    await doubt;
    await renewed(session);
  }).timeout(WITHIN_MS);

  it('does not restore an entry by an enqueue that it delivers after the removal', async () => {
    const session = await through(500);
    // Loads the script into the server, so that the test can call it by its hash.
    await session.enqueue(newSpec({ queue: 'before' }));
    const spec = newSpec();
    const trap = proxy.loseNextReply((chunk) => chunk.includes(spec.id));
    const requested = refusal(session.enqueue(spec));
    await trap.lost;
    await requested;
    expect(await repeatUntilDefinite(() => session.remove('jobs', spec.id), signal)).to.equal(true);
    // Sends a copy of the request that enqueued the entry, after the removal of the entry. It simulates a
    // network that delivers the copy late.
    const { operator } = clients;
    const copy = [session.id, '1', '0', 'jobs', spec.id, '0', '1', '1', ''];
    const response = await operator.redis.evalsha(SCRIPTS.enqueue.sha, 1, operator.key('meta'), ...copy);
    expect(response).to.deep.equal(['removed']);
    expect(await operator.entries('jobs')).to.deep.equal([]);
  }).timeout(WITHIN_MS);

  it('that delivers no replies is replaced by a new connection', async () => {
    const session = await through();
    await session.enqueue(newSpec());
    proxy.toClient.blackhole();
    expect(await refusal(session.renew(signal))).to.have.property('code', 'UNAVAILABLE');
    await proxy.heal();
    await renewed(session);
  }).timeout(WITHIN_MS);

  it('that is down for longer than the TTL ends a wait of its client with SESSION_LOST', async () => {
    const session = await through();
    const placement = await session.enqueue(newSpec());
    const loss = lost(placement);
    proxy.refuse();
    proxy.cut();
    const { redis } = clients.operator;
    await redis.zadd(clients.operator.key('sessions'), '0', session.id);
    const other = await clients.session();
    expect((await other.enqueue(newSpec())).turn.admitted).to.equal(true);
    await proxy.accept();
    expect(await loss).to.equal('SESSION_LOST');
  }).timeout(WITHIN_MS);
});
