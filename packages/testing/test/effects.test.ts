import { createTestStore } from '@queuelock/testing';
import { expect } from 'chai';

/**
 * The code under test: first reads, then charges. If `isCareful` is true, it checks between the two whether
 * the signal of its hold has aborted.
 */
async function job(
  { isCareful, signal }: { readonly isCareful: boolean; readonly signal: AbortSignal },
  read: () => Promise<void>,
  charge: () => void,
): Promise<void> {
  await read();
  if (isCareful) signal.throwIfAborted();
  charge();
}

describe('a function wrapped by store.effect()', () => {
  async function lossDuringRun(isCareful: boolean): Promise<unknown> {
    const store = createTestStore();
    const client = store.client({ ttlMs: 10_000 });
    const charge = store.effect('charge');
    let go = (): void => undefined;
    const reading = new Promise<void>((resolve) => (go = resolve));
    const run = client.locks.run('account/7', ({ signal }) =>
      job({ isCareful, signal }, () => reading, charge),
    );
    run.catch(() => undefined);
    await store.advance(0);
    client.network.partition();
    await store.advance(15_000);
    go();
    await store.advance(0);
    return store.close().then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  it('makes store.close() reject when a client without the lock has called the function', async () => {
    const error = await lossDuringRun(false);
    expect(error).to.have.property('name', 'AssertionError');
    expect(String(error)).to.match(
      /1 effects happened without the lock[^]*at 15000 ms: "charge" under "account\/7" of client1: its hold had ended \(.*OWNERSHIP_LOST/,
    );
  });

  it('is not called after the loss when the work checks its signal', async () => {
    expect(await lossDuringRun(true)).to.equal(undefined);
  });

  it('is checked against the hold of the surrounding run call, not a later hold', async () => {
    const store = createTestStore();
    const client = store.client({ ttlMs: 10_000 });
    const charge = store.effect('charge', undefined, { lock: 'account/7' });
    let go = (): void => undefined;
    const reading = new Promise<void>((resolve) => (go = resolve));
    client.locks.run('account/7', () => reading.then(charge)).catch(() => undefined);
    await store.advance(0);
    client.expireSession();
    await store.advance(10_000);
    const later = await client.locks.acquire('account/7');
    go();
    await store.advance(0);
    expect(store.staleEffects).to.have.length(1);
    charge();
    expect(store.staleEffects).to.have.length(1);
    await later.release();
    charge();
    expect(store.staleEffects.map(({ why }) => why)).to.include('its hold had ended (released)');
    await store.close().catch(() => undefined);
  });

  it('returns the result of the original function in a multi-lock and in a claim', async () => {
    await using store = createTestStore();
    const { locks } = store.client();
    const add = store.effect('add', (one: number, other: number) => one + other, { lock: 'a' });
    expect(await locks.multi(['a', 'b']).run(() => add(1, 2))).to.equal(3);
    const hold = await locks.multi(['a', 'b']).acquire();
    expect(add(3, 4)).to.equal(7);
    await hold.release();
    const sums: number[] = [];
    const claim = locks.claim('a').subscribe((state) => {
      if (state.status === 'held') sums.push(add(5, 6));
    });
    await store.advance(1);
    claim.unsubscribe();
    expect(sums).to.deep.equal([11]);
    expect(store.staleEffects).to.deep.equal([]);
  });

  it('is recorded as stale when it is called without any hold', () => {
    const store = createTestStore();
    store.effect('send mail')();
    expect(store.staleEffects).to.deep.equal([
      { effect: 'send mail', atMs: 0, why: 'no hold was granted for it' },
    ]);
  });
});
