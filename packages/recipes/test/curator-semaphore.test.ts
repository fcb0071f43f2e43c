import type { LockClient, SharedOwnership } from '@queuelock/core';
import { expect } from 'chai';
import { curatorSemaphore, type CuratorSemaphore, type LeaseOptions } from '../src/index.ts';
import { MemoryStage, deferred, failureOf, thrownBy } from './election-stage.ts';

describe("Curator's semaphore", () => {
  let stage: MemoryStage;
  let client: LockClient;
  let pool: CuratorSemaphore;

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
    pool = curatorSemaphore(client, 'pool', { maxLeases: 2 });
  });

  afterEach(() => stage.close());

  interface Taking {
    lease?: SharedOwnership;
    error?: unknown;
  }

  const taking = (from: CuratorSemaphore, options: LeaseOptions = {}): Taking => {
    const taken: Taking = {};
    from.acquire(options).then(
      (lease) => (taken.lease = lease),
      (error: unknown) => (taken.error = error),
    );
    return taken;
  };

  const values = (): readonly [locks: readonly string[], leases: readonly string[]] => [
    stage.values('pool/locks'),
    stage.values('pool/leases'),
  ];

  it('grants leases up to maxLeases, first come, first served', async () => {
    const other = curatorSemaphore(stage.client(), 'pool', { maxLeases: 2 });
    const [a, b] = [await pool.acquire({ value: 'a' }), await other.acquire({ value: 'b' })];
    expect(values()).to.deep.equal([[], ['a', 'b']]);
    const [c, d] = [taking(other, { value: 'c' }), taking(pool, { value: 'd' })];
    await stage.settle();
    expect(values()).to.deep.equal([
      ['c', 'd'],
      ['a', 'b', 'c'],
    ]);
    expect([c.lease, d.lease]).to.deep.equal([undefined, undefined]);
    await b.release();
    await stage.settle();
    expect(values()).to.deep.equal([['d'], ['a', 'c', 'd']]);
    await a.release();
    await stage.settle();
    expect(values()).to.deep.equal([[], ['c', 'd']]);
    expect([c.lease!.held, d.lease!.held, c.lease!.name]).to.deep.equal([true, true, 'pool/leases']);
    await Promise.all([c.lease!.release(), d.lease!.release()]);
  });

  it('notifies a holder when its lease is lost', async () => {
    const lease = await pool.acquire();
    stage.server.evict(lease.key);
    await stage.settle();
    expect(lease.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'entry-removed' });
  });

  it('returns undefined from tryAcquire when no lease is free', async () => {
    const [a, b] = [await pool.tryAcquire(), await pool.tryAcquire()];
    expect(await pool.tryAcquire()).to.equal(undefined);
    expect(values().map(({ length }) => length)).to.deep.equal([0, 2]);
    await a!.release();
    const turn = await client.acquire('pool/locks');
    expect(await pool.tryAcquire()).to.equal(undefined);
    await turn.release();
    await b!.release();
  });

  it('lets the next client take another lease while the work under the first lease runs', async () => {
    const { promise, resolve } = deferred();
    const running = pool.run(async ({ held }) => {
      await promise;
      return held;
    });
    await stage.settle();
    expect(values().map(({ length }) => length)).to.deep.equal([0, 1]);
    const lease = await pool.acquire();
    resolve();
    expect(await running).to.equal(true);
    await lease.release();
  });

  it('releases the lease and rejects with the error when the work throws', async () => {
    const failure = new Error('no');
    const failed = await failureOf(pool.run(() => Promise.reject(failure)));
    expect([failed, values()]).to.deep.equal([failure, [[], []]]);
  });

  it('rejects a call chain that already holds a lease', async () => {
    const failed = await pool.run(() => failureOf(pool.run(() => 'inside')));
    expect(failed).to.include({ code: 'REENTRANT' });
  });

  for (const [where, taken] of [
    ['in the queue "locks"', 'pool/locks'],
    ['in the queue "leases"', 'pool/leases'],
  ] as const) {
    it(`ends a wait ${where} by its timeout or its signal, and leaves no entry`, async () => {
      const [one, two] = [await client.acquire(taken), await stage.client().acquire(`${taken}-other`)];
      const single = curatorSemaphore(stage.client(), 'pool', { maxLeases: 1 });
      const late = taking(single, { timeoutMs: 60_000 });
      await stage.settle();
      const stop = new AbortController();
      const stopped = taking(single, { signal: stop.signal });
      await stage.settle();
      stop.abort(new Error('enough'));
      await stage.settle();
      expect(String(stopped.error)).to.include('enough');
      const gone = failureOf(single.acquire({ timeoutMs: 1 }));
      await stage.clock.advance(1);
      expect(await gone).to.include({ code: 'TIMEOUT' });
      expect(String(await gone)).to.include('"pool/');
      expect(late.lease).to.equal(undefined);
      await one.release();
      await two.release();
      await stage.settle();
      await late.lease!.release();
    });
  }

  it('rejects a wait for a lease when an operator removes its entry in the queue "locks"', async () => {
    const held = await curatorSemaphore(client, 'pool', { maxLeases: 1 }).acquire();
    const waiting = taking(curatorSemaphore(stage.client(), 'pool', { maxLeases: 1 }));
    await stage.settle();
    stage.server.evict(stage.server.queues().get('pool/locks')![0]!.key);
    await stage.settle();
    expect(waiting.error).to.include({ code: 'OWNERSHIP_LOST' });
    expect(values().map(({ length }) => length)).to.deep.equal([0, 1]);
    await held.release();
  });

  it('rejects invalid options and paths', async () => {
    for (const path of ['', 'pool/', 7 as unknown as string]) {
      expect(thrownBy(() => curatorSemaphore(client, path, { maxLeases: 1 })).message).to.match(/path is/);
    }
    for (const maxLeases of [0, 1.5, 1_000_001, NaN]) {
      expect(thrownBy(() => curatorSemaphore(client, 'pool', { maxLeases })).message).to.match(
        /maxLeases is/,
      );
    }
    expect(await failureOf(pool.acquire({ timeoutMs: 0 }))).to.include({ code: 'INVALID_ARGUMENT' });
  });
});
