import { QueueLockError, type LockClient, type SharedOwnership } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import fc from 'fast-check';
import { semaphore, type ResizableSemaphore, type Semaphore } from '../src/index.ts';
import { MemoryStage, deferred, failureOf, thrownBy } from './election-stage.ts';
import { follow } from './frame.ts';
import { givenUpAtEveryPoint } from './give-up.ts';

describe('a semaphore', () => {
  let stage: MemoryStage;
  let client: LockClient;

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
  });

  afterEach(() => stage.close());

  const taking = (from: Semaphore, permits = 1): { permit?: SharedOwnership; error?: unknown } => {
    const taken: { permit?: SharedOwnership; error?: unknown } = {};
    from.acquire({ permits }).then(
      (permit) => (taken.permit = permit),
      (error: unknown) => (taken.error = error),
    );
    return taken;
  };

  const out = (): number[] =>
    (stage.server.queues().get('pool') ?? [])
      .filter(({ admitted }) => admitted)
      .map(({ permits }) => permits);

  describe('with a fixed limit', () => {
    let pool: Semaphore;

    beforeEach(() => {
      pool = semaphore(client, 'pool', { limit: 3 });
    });

    it('grants as many permits as there are, first come, first served', async () => {
      const other = semaphore(stage.client(), 'pool', { limit: 3 });
      const [two, one] = [await pool.acquire({ permits: 2 }), await other.acquire()];
      const big = taking(pool, 2);
      await stage.settle();
      const small = taking(other);
      await stage.settle();
      await one.release();
      await stage.settle();
      expect([big.permit, small.permit], 'nobody smaller passes').to.deep.equal([undefined, undefined]);
      await two.release();
      await stage.settle();
      expect(out()).to.deep.equal([2, 1]);
      expect(big.permit!.token < small.permit!.token).to.equal(true);
      await Promise.all([big.permit!.release(), small.permit!.release()]);
    });

    it('resolves tryAcquire with undefined when too few permits are free, and leaves no entry', async () => {
      const two = await pool.tryAcquire({ permits: 2 });
      expect(await pool.tryAcquire({ permits: 2 })).to.equal(undefined);
      expect([two!.held, out()]).to.deep.equal([true, [2]]);
      await (await pool.tryAcquire())!.release();
      await two!.release();
    });

    it('gives each permit a signal of its own', async () => {
      const mine = await pool.acquire();
      const yours = await semaphore(stage.client(), 'pool', { limit: 3 }).acquire();
      stage.expireFirst('pool');
      await stage.settle();
      expect([mine.signal.aborted, yours.signal.aborted]).to.deep.equal([true, false]);
      expect(mine.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'session-lost' });
      await yours.release();
    });

    it('runs work with permits', async () => {
      const response = await pool.run(({ held }) => [held, out()], { permits: 3 });
      expect([response, out()]).to.deep.equal([[true, [3]], []]);
    });

    it('returns a claim as a stream, and unsubscribing leaves the queue', async () => {
      const states = follow(pool.claim({ permits: 3 }));
      await stage.settle();
      expect(states.values.map(({ status }) => status)).to.deep.equal(['joining', 'held']);
      states.stop();
      await stage.settle();
      expect(stage.server.entryCount).to.equal(0);
    });

    it('rejects a client whose limit differs from that of an entry ahead', async () => {
      const permit = await pool.acquire();
      const other = semaphore(stage.client(), 'pool', { limit: 4 });
      expect(await failureOf(other.acquire())).to.include({ code: 'LIMIT_MISMATCH' });
      await permit.release();
      await (await other.acquire()).release();
    });

    it('rejects invalid options', async () => {
      for (const limit of [0, 1.5, NaN, 1_000_001, '3' as unknown as number]) {
        expect(thrownBy(() => semaphore(client, 'pool', { limit }))).to.include({ code: 'INVALID_ARGUMENT' });
      }
      expect(await failureOf(pool.acquire({ permits: 4 }))).to.include({ code: 'INVALID_ARGUMENT' });
      expect(thrownBy(() => pool.claim({ permits: 0 }))).to.include({ code: 'INVALID_ARGUMENT' });
      expect(await failureOf(semaphore(client, '', { limit: 1 }).acquire())).to.include({
        code: 'INVALID_ARGUMENT',
      });
    });
  });

  describe('with a resizable limit', () => {
    const sized = (limit: number, by = client): ResizableSemaphore =>
      semaphore(by, 'pool', { limit, resizable: true });

    it('has the limit that its first user declared', async () => {
      await (await sized(2).acquire()).release();
      const limits = follow(sized(5, stage.client()).limit$);
      await stage.settle();
      expect(limits.values).to.deep.equal([2]);
      limits.stop();
    });

    it('admits waiters as soon as the limit grows', async () => {
      const pool = sized(1);
      const first = await pool.acquire();
      const waits = [1, 2, 3].map(() => taking(sized(9, stage.client())));
      await stage.settle();
      expect(out()).to.deep.equal([1]);
      await sized(7, stage.client()).resize(3);
      await stage.settle();
      expect(out()).to.deep.equal([1, 1, 1]);
      await pool.resize(4);
      await stage.settle();
      expect(out()).to.deep.equal([1, 1, 1, 1]);
      for (const { permit } of waits) await permit!.release();
      await first.release();
    });

    it('lets holders keep their permits when the limit shrinks', async () => {
      const pool = sized(3);
      const held = [await pool.acquire(), await pool.acquire(), await pool.acquire()];
      const wait = taking(sized(3, stage.client()));
      await stage.settle();
      await pool.resize(1);
      await held[0]!.release();
      await held[1]!.release();
      await stage.settle();
      expect([wait.permit, held[2]!.held]).to.deep.equal([undefined, true]);
      await held[2]!.release();
      await stage.settle();
      expect(out()).to.deep.equal([1]);
      await wait.permit!.release();
    });

    it('rejects a request for more permits than the limit, also after the limit shrinks', async () => {
      const pool = sized(3);
      const one = await pool.acquire();
      const three = taking(sized(3, stage.client()), 3);
      await stage.settle();
      await pool.resize(2);
      await stage.settle();
      expect(three.error).to.include({
        message: '[INVALID_ARGUMENT] permits is at most the limit of the semaphore, which is 2 now; got 3',
      });
      expect(await failureOf(pool.acquire({ permits: 3 }))).to.include({ code: 'INVALID_ARGUMENT' });
      await one.release();
      await stage.settle();
      expect(stage.server.entryCount).to.equal(0);
    });

    it('subscribes to the limit once for all waiters, and only while there are waiters', async () => {
      const pool = sized(1);
      const permit = await pool.acquire();
      await stage.settle();
      const whileHeld = stage.server.watcherCount;
      const waits = [pool.acquire(), pool.acquire(), pool.run((held) => held)];
      const claims = follow(pool.claim());
      await stage.settle();
      // Each of the four waiters subscribes to its own entry. The client subscribes only once, for all of
      // them, to the register that stores the limit of the semaphore.
      expect(stage.server.watcherCount - whileHeld).to.equal(4 + 1);
      await permit.release();
      await (await waits[0]!).release();
      await (await waits[1]!).release();
      await waits[2];
      await stage.settle();
      expect([claims.last!.status, stage.server.watcherCount]).to.deep.equal(['held', 1]);
      claims.stop();
    });

    it('makes a fixed semaphore that joins behind its entries reject with LIMIT_MISMATCH', async () => {
      const permit = await sized(2).acquire();
      const fixed = semaphore(stage.client(), 'pool', { limit: 3 });
      expect(await failureOf(fixed.acquire())).to.include({ code: 'LIMIT_MISMATCH' });
      await permit.release();
      const other = await fixed.acquire();
      await (await sized(2).acquire()).release();
      await other.release();
    });

    it('can be resized after another client has emptied the register that stores the limit', async () => {
      const limits = follow(sized(4).limit$);
      await stage.settle();
      await client.register('pool', 'limit').change(() => undefined);
      await stage.settle();
      await sized(4).resize(6);
      await stage.settle();
      expect(limits.values).to.deep.equal([4, 6]);
      limits.stop();
    });

    it('writes the new limit only once when the reply to a resize is lost', async () => {
      let isLost = true;
      const intercept: Intercept = async (call, proceed) => {
        const response = await proceed();
        if (call === 'writeRegister') isLost = !isLost;
        if (call === 'writeRegister' && !isLost) throw new QueueLockError('UNAVAILABLE', 'lost');
        return response;
      };
      const pool = sized(2, stage.client({ backend: { intercept } }));
      await pool.resize(5);
      const limits = follow(sized(1).limit$);
      await stage.settle();
      expect(limits.values).to.deep.equal([5]);
      limits.stop();
    });

    it('rejects with INVALID_ARGUMENT while the stored limit is not a number', async () => {
      await client.register('pool', 'limit').change(() => 'many');
      const pool = sized(2);
      const watched = stage.server.watcherCount;
      expect(await failureOf(pool.acquire())).to.include({ code: 'INVALID_ARGUMENT' });
      expect(follow(pool.limit$).end).to.include({ code: 'INVALID_ARGUMENT' });
      expect(stage.server.watcherCount).to.equal(watched);
      expect(await failureOf(pool.resize(0))).to.include({ code: 'INVALID_ARGUMENT' });
      await pool.resize(2);
      await (await pool.acquire()).release();
    });

    it('rejects waiters with CLOSED when the client closes, even before the limit is read', async () => {
      const never = deferred();
      const intercept: Intercept = (call, proceed) =>
        call === 'writeRegister' ? never.promise.then(proceed) : proceed();
      const mine = stage.client({ backend: { intercept } });
      const pool = sized(2, mine);
      const waits = [pool.acquire(), pool.tryAcquire(), pool.run(() => 1)].map(failureOf);
      const limits = follow(pool.limit$);
      await stage.settle();
      const closing = mine.close();
      for (const error of await Promise.all(waits)) expect(error).to.include({ code: 'CLOSED' });
      expect(limits.end).to.equal('complete');
      never.resolve();
      await closing;
    });

    it('leaves no entry behind when an acquisition is aborted at any await', async () => {
      const attempt = (mine: LockClient, signal: AbortSignal): Promise<SharedOwnership> =>
        sized(1, mine).acquire({ signal });
      const undo = (permit: SharedOwnership): unknown => permit.release();
      expect(await givenUpAtEveryPoint({ attempt, undo })).to.be.above(5);
      const before = async (at: MemoryStage): Promise<() => unknown> => {
        const permit = await sized(1, at.client()).acquire();
        return () => permit.release();
      };
      expect(await givenUpAtEveryPoint({ before, attempt, undo })).to.be.above(5);
    });

    it('grants in order, and as many entries as the limit allows, in random histories', async () => {
      const action = fc.oneof(
        fc.record({
          what: fc.constant('take' as const),
          by: fc.nat(2),
          permits: fc.integer({ min: 1, max: 2 }),
        }),
        fc.record({ what: fc.constant('give' as const), which: fc.nat(5) }),
        fc.record({ what: fc.constant('resize' as const), to: fc.integer({ min: 2, max: 5 }) }),
        fc.record({ what: fc.constant('expire' as const), which: fc.nat(2) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
          const mine = new MemoryStage();
          const pools = [0, 1, 2].map(() => semaphore(mine.client(), 'pool', { limit: 3, resizable: true }));
          const held: SharedOwnership[] = [];
          const taking: Promise<unknown>[] = [];
          const stop = new AbortController();
          let most = 3;
          for (const one of actions) {
            const before = mine.server.queues().get('pool') ?? [];
            if (one.what === 'take') {
              const { permits } = one;
              const taken = pools[one.by]!.acquire({ permits, signal: stop.signal });
              taking.push(taken.then((permit) => held.push(permit)).catch(() => undefined));
            }
            if (one.what === 'give') await held.splice(one.which, 1)[0]?.release();
            if (one.what === 'resize') await pools[0]!.resize(one.to);
            if (one.what === 'expire' && mine.server.sessionIds[one.which] !== undefined)
              mine.server.expireSession(mine.server.sessionIds[one.which]!);
            await mine.settle();
            const entries = mine.server.queues().get('pool') ?? [];
            const admitted = entries.filter((entry) => entry.admitted);
            const sum = admitted.reduce((total, { permits }) => total + permits, 0);
            if (one.what === 'resize') most = one.to;
            const isNew = admitted.some(({ id }) => !before.find((entry) => entry.id === id)?.admitted);
            if (isNew) expect(sum, 'permits out').to.be.at.most(most);
            const [next] = entries.slice(admitted.length);
            expect(entries.slice(0, admitted.length), 'in order').to.deep.equal(admitted);
            if (next) expect(sum + next.permits, 'nobody waits for nothing').to.be.above(most);
          }
          stop.abort(new Error('over'));
          for (const permit of held) await permit.release();
          await Promise.all(taking);
          for (const permit of held) await permit.release();
          await mine.settle();
          expect([mine.server.entryCount, mine.server.watcherCount]).to.deep.equal([0, 0]);
          await mine.close();
        }),
        { numRuns: 150 },
      );
    });
  });
});
