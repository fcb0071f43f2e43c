import type { LockClient, QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { fairShare, type FairShare, type Share } from '../src/index.ts';
import { MemoryStage, TTL_MS, deferred, failureOf } from './election-stage.ts';
import { anyShareHistory } from './fair-share-history.ts';
import { givenUpAtEveryPoint } from './give-up.ts';

const RUNS = 25;
const ONE_EACH = { limit: 2, limitPerKey: 1 };

describe('fairShare', () => {
  let stage: MemoryStage;
  let client: LockClient;
  let share: FairShare;

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
    share = fairShare(client, 'x', ONE_EACH);
  });

  afterEach(() => stage.close());

  it('admits the only caller of one key before the second caller of another key', async () => {
    const only = fairShare(stage.client(), 'x', { limit: 1, limitPerKey: 1 });
    const { promise: end, resolve } = deferred();
    const order: string[] = [];
    const runs = ['a', 'a', 'a', 'b'].map((key, n) => {
      const run = only.run(key, async () => {
        order.push(`${key}${n}`);
        await end;
      });
      return run;
    });
    await stage.settle();
    resolve();
    await Promise.all(runs);
    expect(order).to.deep.equal(['a0', 'b3', 'a1', 'a2']);
  });

  it('never exceeds the limit or the limit per key, and keeps the order, in generated histories', async () => {
    await fc.assert(anyShareHistory, { numRuns: RUNS, seed: 1 });
  }).timeout(60_000);

  it('keeps the shares of a key apart from those of every other name and key', async () => {
    const limits = { limit: 4, limitPerKey: 1 };
    for (const [name, key] of [
      ['a', 'b/c/key/d'],
      ['a/key/b/c', 'd'],
      ['a', 'b%2Fc%2Fkey%2Fd'],
    ] as const) {
      const held = await fairShare(client, name, limits).tryAcquire(key);
      expect(held?.held, `${name} ${key}`).to.equal(true);
    }
    const queues = [...stage.server.queues().keys()];
    expect(queues).to.have.members([
      'a',
      'a/key/b%2Fc%2Fkey%2Fd',
      'a/key/b/c',
      'a/key/b/c/key/d',
      'a/key/b%252Fc%252Fkey%252Fd',
    ]);
  });

  it('refuses a name that the queue of a key may have', async () => {
    for (const name of ['a/key/b', 'a/key/b/key/c', 'a/key/\n'])
      expect(() => fairShare(client, name, ONE_EACH), name)
        .to.throw(/name does not end in "\/key\/…"/)
        .with.property('code', 'INVALID_ARGUMENT');
    for (const name of ['key/b', 'a/key/b/c', 'a/keys/b', 'a/key/'])
      expect(fairShare(client, name, ONE_EACH).name).to.equal(name);
  });

  for (const [how, attempt] of [
    ['acquire', (one: FairShare, signal: AbortSignal) => one.acquire('a', { signal })],
    ['tryAcquire', (one: FairShare, signal: AbortSignal) => one.tryAcquire('a', { signal })],
    ['run', (one: FairShare, stop: AbortSignal) => one.run('a', () => undefined, { stop })],
  ] as const) {
    for (const [who, held] of [
      ['no client', undefined],
      ['the same key', 'a'],
      ['another key', 'b'],
    ] as const) {
      it(`leaves no entry when ${how} is aborted at any await, while ${who === 'no client' ? 'no share' : `a share of ${who}`} is held`, async () => {
        const limits = { limit: 1, limitPerKey: 1 };
        const given = await givenUpAtEveryPoint<Share | undefined>({
          before: async (scene) => {
            const hold = held && (await fairShare(scene.client(), 'x', limits).acquire(held));
            return () => hold?.release();
          },
          attempt: (one, signal): Promise<Share | undefined> => attempt(fairShare(one, 'x', limits), signal),
          undo: (result) => result?.release(),
        });
        expect(given).to.be.above(0);
      });
    }
  }

  it('applies one timeout to the wait for the permit of the key and for the shared permit', async () => {
    const [one, two] = [await share.acquire('a'), await share.acquire('b')];
    const began = performance.now();
    const late = share.acquire('c', { timeoutMs: 20 });
    const [error] = await Promise.all([failureOf(late), stage.clock.advance(30)]);
    expect(error).to.include({ code: 'TIMEOUT' });
    expect(performance.now() - began).to.be.below(10_000);
    expect(stage.values('x/key/c')).to.deep.equal([]);
    await Promise.all([one.release(), two.release()]);
  });

  it('loses a share when one of its permits is lost', async () => {
    for (const queue of ['x', 'x/key/a']) {
      const held = await share.acquire('a');
      expect([held.held, held.key, held.signal.aborted]).to.deep.equal([true, 'a', false]);
      const [entry] = stage.server.queues().get(queue)!;
      await client.evict(queue, { key: entry!.key, order: entry!.order, owner: '' }, { reason: 'test' });
      await stage.settle();
      expect([held.held, held.signal.aborted, held.remainingMs]).to.deep.equal([false, true, 0]);
      expect(() => held.throwIfLost()).to.throw(/OWNERSHIP_LOST/);
      expect(stage.server.entryCount).to.equal(1);
      await held.release();
      expect(stage.server.entryCount).to.equal(0);
    }
  });

  it('stops the work, and the wait for the shared permit, when the permit of the key is lost', async () => {
    const lose = async (): Promise<void> => {
      const [entry] = stage.server.queues().get('x/key/a')!;
      await client.evict('x/key/a', { key: entry!.key, order: entry!.order, owner: '' }, { reason: 'test' });
    };
    const working = failureOf(
      share.run('a', async (_share, stop) => {
        await lose();
        await stage.settle();
        stop.throwIfAborted();
      }),
    );
    expect(((await working) as QueueLockError).code).to.equal('OWNERSHIP_LOST');
    const others = [await share.acquire('b'), await share.acquire('c')];
    const waits = [
      failureOf(share.run('a', () => expect.fail('it has no permit'))),
      failureOf(share.acquire('a')),
    ];
    await stage.settle();
    await lose();
    await stage.settle();
    await lose();
    for (const wait of waits) expect(((await wait) as QueueLockError).code).to.equal('OWNERSHIP_LOST');
    await Promise.all(others.map((other) => other.release()));
  });

  it('loses a share with the session, and grants the next caller after the TTL', async () => {
    const crashed = await fairShare(stage.client(), 'x', ONE_EACH).acquire('a');
    const next = share.acquire('a');
    await stage.settle();
    stage.expireFirst('x');
    await stage.clock.advance(TTL_MS);
    expect(crashed.held).to.equal(false);
    await (await next).release();
  });

  it('rejects invalid arguments with an error that states argument, value and rule', async () => {
    expect(() => fairShare(client, 'x', { limit: 0, limitPerKey: 1 })).to.throw(/limit.*from 1 up/);
    expect(() => fairShare(client, 'x', { limit: 2, limitPerKey: 3 })).to.throw(/limitPerKey.*from 1 to 2/);
    for (const key of ['', 'k'.repeat(201), undefined as never])
      expect(String(await failureOf(share.acquire(key)))).to.match(/key.*text of 1 to 200 characters/);
    expect(String(await failureOf(share.acquire('a', { permits: 2 } as object)))).to.match(
      /permits is unknown/,
    );
    expect(String(await failureOf(share.run('a', undefined as never)))).to.match(/work.*is a function/);
  });
});
