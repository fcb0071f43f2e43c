import { isQueueLockError } from '@queuelock/core';
import { createTestStore, type TestStore } from '@queuelock/testing';
import { expect } from 'chai';

describe('a test store', () => {
  let store: TestStore;

  beforeEach(() => {
    store = createTestStore();
  });

  afterEach(() => store.close());

  it('grants in order without any time passing', async () => {
    const [first, second] = [store.client(), store.client()];
    const hold = await first.locks.acquire('report');
    const next = second.locks.acquire('report');
    await hold.release();
    await (await next).release();
    expect(store.nowMs).to.equal(0);
  });

  it('ends the hold of a cut-off client before it grants the lock to another client', async () => {
    const [first, second] = [store.client({ ttlMs: 10_000 }), store.client()];
    const hold = await first.locks.acquire('report');
    let endedAt = Infinity;
    hold.signal.addEventListener('abort', () => (endedAt = store.nowMs));
    let heldAt = Infinity;
    const next = second.locks.acquire('report').then((ownership) => {
      heldAt = store.nowMs;
      return ownership;
    });
    first.network.partition();
    await store.advance(20_000);
    expect(endedAt).to.be.within(9_000, heldAt - 1);
    expect(heldAt).to.be.within(10_000, 13_000);
    expect(hold.held).to.equal(false);
    await (await next).release();
  });

  it('keeps the hold of a client through a partition that is shorter than the TTL', async () => {
    const client = store.client({ ttlMs: 10_000 });
    const hold = await client.locks.acquire('report');
    client.network.partition();
    await store.advance(5_000);
    client.network.heal();
    await store.advance(20_000);
    expect(hold.held).to.equal(true);
    await hold.release();
  });

  it('reports the loss of a lock to a paused process as soon as it continues', async () => {
    const [first, second] = [store.client({ ttlMs: 10_000 }), store.client()];
    const hold = await first.locks.acquire('report');
    const next = second.locks.acquire('report');
    let isNotified = false;
    hold.signal.addEventListener('abort', () => (isNotified = true));
    first.pause();
    await store.advance(15_000);
    expect(isNotified).to.equal(false);
    expect((await next).held).to.equal(true);
    first.resume();
    expect(hold.held).to.equal(false);
    expect(isNotified).to.equal(true);
  });

  it('repeats an enqueue whose request or reply was lost, without a second grant', async () => {
    for (const what of ['loseRequest', 'loseReply'] as const) {
      const client = store.client();
      await (await client.locks.acquire('warm-up')).release();
      client.network[what]('enqueue');
      client.network[what]('tryEnqueue');
      const acquired = client.locks.acquire('report');
      await store.advance(5_000);
      const hold = await acquired;
      expect(store.server.queues().get('report')).to.have.length(1);
      await hold.release();
    }
  });

  it('removes the entries of a crashed process after its TTL', async () => {
    const [first, second] = [store.client({ ttlMs: 10_000 }), store.client()];
    await first.locks.acquire('report');
    first.crash();
    const next = second.locks.acquire('report');
    await store.advance(9_000);
    expect(store.server.queues().get('report')).to.have.length(2);
    await store.advance(2_000);
    expect((await next).held).to.equal(true);
  });

  it('notifies a client whose session was ended by expireSession', async () => {
    const client = store.client();
    const hold = await client.locks.acquire('report');
    expect(client.expireSession()).to.equal(true);
    await store.advance(10_000);
    const { reason } = hold.signal as { reason: unknown };
    expect(isQueueLockError(reason, 'OWNERSHIP_LOST')).to.equal(true);
    expect(store.client().expireSession()).to.equal(false);
  });

  it('delays each request by the latency of the connection', async () => {
    const client = store.client({ latencyMs: 100 });
    let heldAt = 0;
    const acquired = client.locks.acquire('report').then((ownership) => {
      heldAt = store.nowMs;
      return ownership;
    });
    await store.advance(1_000);
    // Acquiring takes two round trips: one opens the session, and one enters the queue.
    expect(heldAt).to.equal(200);
    const released = (await acquired).release();
    await store.advance(100);
    await released;
  });
});
