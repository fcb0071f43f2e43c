import { expect } from 'chai';
import { createLockClient, type LockClient } from '@queuelock/core';
import { admitted, lost, refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const KEY = 'old:jobs';
const WITHIN_MS = 30_000;

describe('a queue of Redis with a single key', () => {
  const clients = new Clients();
  const singleKey = (queue: string): string | undefined => (queue === 'jobs' ? KEY : undefined);
  const locks: LockClient[] = [];

  function client(): LockClient {
    const made = createLockClient(clients.connect({ singleKey }));
    locks.push(made);
    return made;
  }

  /** Takes the single key with `SET … PX … NX`, as a client without a queue does. */
  function take(): Promise<string | null> {
    return clients.operator.redis.set(KEY, 'theirs', 'PX', 60_000, 'NX');
  }

  beforeEach(() => clients.empty());
  afterEach(async () => {
    await Promise.all(locks.splice(0).map((made) => made.close()));
  });

  it('stores the entry of the holder as the value of the single key until the release', async () => {
    const session = await clients.session(clients.connect({ singleKey }));
    const spec = newSpec();
    const { key } = await session.enqueue(spec);
    expect(await clients.operator.redis.get(KEY)).to.equal(key);
    expect(await take()).to.equal(null);
    await session.remove('jobs', spec.id);
    expect(await take()).to.equal('OK');
    expect(await clients.operator.redis.exists(clients.operator.key(`singles:${session.id}`))).to.equal(0);
  });

  it('makes waiters wait in order while another program has locked its single key', async () => {
    await take();
    const [one, other] = [client(), client()];
    expect(await one.tryAcquire('jobs')).to.equal(undefined);
    const first = one.acquire('jobs');
    while ((await clients.operator.redis.zcard(clients.operator.key('line:jobs'))) < 1);
    const second = other.acquire('jobs');
    while ((await clients.operator.redis.zcard(clients.operator.key('line:jobs'))) < 2);
    await clients.operator.redis.del(KEY);
    const ownership = await first;
    expect(await take()).to.equal(null);
    await ownership.release();
    const next = await second;
    expect(next.token > ownership.token).to.equal(true);
    await next.release();
  }).timeout(WITHIN_MS);

  it('hands the lock and its single key to the next waiter in one step', async () => {
    const [holder, waiter] = [client(), client()];
    const ownership = await holder.acquire('jobs');
    const waiting = waiter.acquire('jobs');
    while ((await clients.operator.redis.zcard(clients.operator.key('line:jobs'))) < 2);
    await ownership.release();
    expect(await take()).to.equal(null);
    await (await waiting).release();
    expect(await take()).to.equal('OK');
  });

  it('extends the life of the single key with each heartbeat', async () => {
    const session = await clients.session(clients.connect({ singleKey }), 20_000);
    await session.enqueue(newSpec());
    await clients.operator.redis.pexpire(KEY, 5_000);
    await session.renew(signal);
    expect(await clients.operator.redis.pttl(KEY)).to.be.within(5_001, 20_000);
  });

  it('frees the single key of an expired session', async () => {
    const session = await clients.session(clients.connect({ singleKey }));
    const turn = session.enqueue(newSpec());
    await turn;
    await clients.operator.redis.zadd(clients.operator.key('sessions'), '0', session.id);
    await (await clients.session()).renew(signal);
    expect(await take()).to.equal('OK');
  });

  it("ends the hold when another client has replaced the single key, and keeps that client's value", async () => {
    const session = await clients.session(clients.connect({ singleKey }));
    const placement = await session.enqueue(newSpec());
    const loss = lost(placement);
    await clients.operator.redis.set(KEY, 'theirs');
    await session.renew(signal);
    expect(await loss).to.equal('ENTRY_LOST');
    expect(await clients.operator.redis.get(KEY)).to.equal('theirs');
    await clients.operator.redis.del(KEY);
    await admitted(await session.enqueue(newSpec()));
  }).timeout(WITHIN_MS);

  it('accepts only exclusive entries, and no acquisition of several queues', async () => {
    const session = await clients.session(clients.connect({ singleKey }));
    for (const spec of [newSpec({ shared: true }), newSpec({ limit: 2 })])
      expect(await refusal(session.enqueue(spec))).to.have.property('code', 'INVALID_ARGUMENT');
    const together = session.enqueueAll!([newSpec(), newSpec({ queue: 'other' })]);
    expect(await refusal(together)).to.have.property('code', 'INVALID_ARGUMENT');
    const own = clients.connect({ singleKey: () => '{queuelock}:meta' });
    expect(await refusal((await clients.session(own)).enqueue(newSpec()))).to.have.property(
      'code',
      'INVALID_ARGUMENT',
    );
  });
});
