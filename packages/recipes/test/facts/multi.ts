import { isQueueLockError, type LockClient } from '@queuelock/core';
import { expect } from 'chai';
import type { RecipeFact } from '../frame.ts';
import { join } from '../join.ts';

const ROUNDS = 12;

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it was let in'),
    (error: unknown) => error,
  );
}

/** Acquires the names one after the other while keeping the earlier holds, like a multi-lock that does not sort its names. */
async function oneByOne(client: LockClient, names: readonly string[], timeoutMs: number): Promise<void> {
  const [name, ...others] = names;
  if (name === undefined) return;
  await client.run(name, () => oneByOne(client, others, timeoutMs), { timeoutMs });
}

export const multiFacts: readonly RecipeFact[] = [
  {
    title: 'several names are held together, each with its token, and are released together',
    async check(site) {
      const names = [site.queue, site.freshQueue(), site.freshQueue()];
      const [a, b] = [site.client(), site.client()];
      const own = await a.multi(names).acquire();
      expect(own.names).to.deep.equal(names);
      expect(own.held && own.remainingMs > 0).to.equal(true);
      for (const name of names) {
        expect(own.of(name)).to.include({ name, held: true, shared: false });
        expect(await b.tryAcquire(name)).to.equal(undefined);
      }
      await own.release();
      expect(own.held).to.equal(false);
      const next = await b.multi(names).acquire();
      for (const name of names) expect(next.of(name).token > own.of(name).token).to.equal(true);
      await next.release();
    },
  },
  {
    title: 'multi-locks of several clients with the same names in different orders are all granted',
    async check(site) {
      const names = [site.queue, site.freshQueue(), site.freshQueue()];
      const [x, y, z] = names as [string, string, string];
      const orders = [
        [x, y],
        [y, x],
        [y, z, x],
        [z, y],
        [x, z],
      ];
      const holders = new Map<string, number>(names.map((name) => [name, 0]));
      const loops = orders.map(async (order, at) => {
        const lock = site.client().multi(order);
        for (let round = 0; round < ROUNDS; round += 1) {
          await lock.run(async () => {
            for (const name of order) {
              holders.set(name, holders.get(name)! + 1);
              expect(holders.get(name), `${name} in round ${round} of ${at}`).to.equal(1);
            }
            await new Promise((resolve) => setImmediate(resolve));
            for (const name of order) holders.set(name, holders.get(name)! - 1);
          });
        }
      });
      await Promise.all(loops);
    },
  },
  {
    title:
      'two clients that acquire two locks one by one in opposite order wait for each other until a timeout',
    async check(site) {
      const [x, y] = [site.queue, site.freshQueue()];
      const [a, b] = [site.client(), site.client()];
      const timeoutMs = 500;
      const outcomes: unknown[] = [];
      for (let attempt = 0; attempt < 50 && outcomes.length === 0; attempt += 1) {
        const pair = [oneByOne(a, [x, y], timeoutMs), oneByOne(b, [y, x], timeoutMs)];
        for (const outcome of await Promise.allSettled(pair))
          if (outcome.status === 'rejected') outcomes.push(outcome.reason);
      }
      expect(outcomes.some((error) => isQueueLockError(error, 'TIMEOUT'))).to.equal(true);
    },
  },
  {
    title: 'a multi-lock that times out or is aborted leaves no entry in any of its queues',
    async check(site) {
      const [x, y] = [site.queue, site.freshQueue()];
      const [a, b] = [site.client(), site.client()];
      const holder = await a.acquire(y);
      // Opens the client's session first, so that the short timeout ends the wait in the queue. Otherwise it
      // could end the opening of the session.
      await (await b.acquire(x)).release();
      const timeoutMs = Math.max(60, site.ttlMs / 8);
      expect(isQueueLockError(await refusal(b.multi([x, y]).acquire({ timeoutMs })), 'TIMEOUT')).to.equal(
        true,
      );
      const controller = new AbortController();
      const waiting$ = b.multi([x, y]).claim({ signal: controller.signal });
      const states = site.follow(waiting$);
      await site.until('it waits for y alone', () => {
        const { last } = states;
        return last?.status === 'queued' && last.waitingFor.join() === y;
      });
      const behind = await join(a, x);
      expect(behind.ownership, 'x is taken by who waits for y').to.equal(undefined);
      controller.abort(new Error('enough'));
      await site.until('it ended', () => states.end === 'complete');
      expect(states.last).to.include({ status: 'ended', outcome: 'failed' });
      await (await behind.held).release();
      await holder.release();
    },
  },
  {
    title: 'the loss of one name of a multi-lock releases its other names',
    async check(site) {
      const [x, y] = [site.queue, site.freshQueue()];
      const [a, b] = [site.client(), site.client()];
      const own = await a.multi([x, y]).acquire();
      const next = await join(b, x);
      const seen = site.follow(b.watch(y));
      await site.until('it is seen', () => seen.last?.entries.length === 1);
      await b.evict(y, seen.last!.entries[0]!, { reason: 'a test' });
      await site.until('it is lost', () => own.signal.aborted);
      expect([own.held, own.remainingMs]).to.deep.equal([false, 0]);
      expect(() => own.throwIfLost()).to.throw('removed');
      await (await next.held).release();
      await own.release();
      await b.register(y, 'evictions').change(() => undefined);
    },
  },
  {
    title: 'tryAcquire of several names acquires all or none',
    async check(site) {
      const [x, y] = [site.queue, site.freshQueue()];
      const [a, b] = [site.client(), site.client()];
      const holder = await a.acquire(y);
      expect(await b.multi([x, y]).tryAcquire()).to.equal(undefined);
      await site.until('x is free', async () => (await a.tryAcquire(x))?.release().then(() => true));
      await holder.release();
      const own = await b.multi([x, y]).tryAcquire();
      expect(own?.held).to.equal(true);
      await own?.release();
    },
  },
  {
    title: 'a session that ends removes all entries of its multi-lock',
    async check(site) {
      const [x, y] = [site.queue, site.freshQueue()];
      const line = await site.line();
      const own = await line.client({ ttlMs: site.ttlMs }).multi([x, y]).acquire();
      const next = site.client().multi([y, x]).acquire();
      line.cut();
      await site.until('it is lost', () => !own.held);
      await (await next).release();
      await line.mend();
    },
  },
  {
    title: 'each entry of a multi-lock lists the other entries of that multi-lock as held',
    async check(site) {
      const names = [site.queue, site.freshQueue(), site.freshQueue()];
      const locks = site.client();
      const own = await locks.multi(names).acquire();
      for (const name of names) {
        const seen = site.follow(locks.watch(name));
        await site.until('seen', () => seen.last?.entries.length === 1);
        const others = names.filter((other) => other !== name).map((other) => own.of(other).id);
        expect(seen.last?.entries[0]?.holds).to.have.members(others);
      }
      await own.release();
    },
  },
  {
    title:
      'a multi-lock without names, with equal names, or with a name that cannot be locked rejects at the call',
    async check(site) {
      const locks = site.client();
      expect(() => locks.multi([])).to.throw('1 to 60');
      expect(() => locks.multi([site.queue, site.queue])).to.throw('different');
      expect(() => locks.multi(['a', ''])).to.throw('not empty');
      const inside: unknown = await locks
        .run(site.queue, () => locks.multi([site.queue]).acquire())
        .catch((error: unknown) => error);
      expect(isQueueLockError(inside, 'REENTRANT')).to.equal(true);
    },
  },
];
