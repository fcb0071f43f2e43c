import { expect } from 'chai';
import { safely } from '@queuelock/harness/safety';
import { hold, snapshot, reasonOf, type Facts } from '../frame.ts';

const SHARED = { mode: 'shared' } as const;

/**
 * Queries the state of the locks twice. These round trips give a later request time to overtake an earlier
 * one, if a defect allows that.
 */
async function readTwice(locks: Parameters<typeof snapshot>[0]): Promise<void> {
  await snapshot(locks);
  await snapshot(locks);
}

export const holdingFacts: Facts = {
  about: 'holding',
  facts: [
    {
      title:
        'a request resolves with the result of its callback, plain or promised, after the lock was released',
      async check({ peer }) {
        const { locks } = peer();
        const request = locks.request('jobs', () => 123);
        expect(Promise.resolve(request)).to.equal(request);
        expect(await request).to.equal(123);
        expect(await locks.request('jobs', async () => 'later')).to.equal('later');
        expect(await snapshot(locks)).to.deep.equal({ held: [], pending: [] });
      },
    },
    {
      title:
        'a request rejects with exactly the value that its callback throws, even if that value has a method named then',
      async check({ peer }) {
        const { locks } = peer();
        let isCalled = false;
        const reasons = [{ name: 'test' }, { then: () => (isCalled = true) }];
        for (const reason of reasons) {
          const thrown = locks.request('jobs', () => {
            throw reason as unknown as Error;
          });
          const refused = locks.request('jobs', async () => {
            throw reason as unknown as Error;
          });
          const boxes = await Promise.allSettled([thrown, refused]);
          for (const box of boxes) expect(box.status === 'rejected' && box.reason === reason).to.equal(true);
        }
        expect(isCalled).to.equal(false);
        expect(await snapshot(locks)).to.deep.equal({ held: [], pending: [] });
      },
    },
    {
      title: 'a granted lock has a name, a mode, a token, a signal, and the property held',
      async check({ peer }) {
        const { locks } = peer();
        const first = await hold(locks, 'jobs');
        expect([first.lock.name, first.lock.mode, first.lock.held]).to.deep.equal([
          'jobs',
          'exclusive',
          true,
        ]);
        await first.end();
        expect([first.lock.held, first.lock.signal.aborted]).to.deep.equal([false, false]);
        const second = await hold(peer().locks, 'jobs', SHARED);
        expect(second.lock.mode).to.equal('shared');
        safely(() => expect(second.lock.token > first.lock.token).to.equal(true));
        await second.end();
      },
    },
    {
      title: 'an exclusive lock is held until its callback settles; later requests are granted in order',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const first = await hold(here, 'jobs');
        const order: string[] = [];
        const failing = here.request('jobs', async () => {
          order.push('second');
          await readTwice(there);
          order.push('it fails');
          throw new Error('as it is meant to');
        });
        await here.query();
        const last = there.request('jobs', () => order.push('third'));
        await there.query();
        safely(() => expect(order).to.deep.equal([]));
        await first.end();
        expect(String(await reasonOf(failing))).to.include('as it is meant to');
        await last;
        safely(() => expect(order).to.deep.equal(['second', 'it fails', 'third']));
      },
    },
    {
      title: 'a lock is granted while a lock of another name is held',
      async check({ peer }) {
        const { locks } = peer();
        const order: string[] = [];
        let inner!: Promise<unknown>;
        await locks.request('a', async () => {
          inner = Promise.all([
            locks.request('a', () => order.push('taken')),
            locks.request('b', () => order.push('free')),
          ]);
        });
        await inner;
        expect(order).to.deep.equal(['free', 'taken']);
      },
    },
    {
      title: 'shared locks are held together, by one client and by several',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const holdings = [
          await hold(here, 'book', SHARED),
          await hold(here, 'book', SHARED),
          await hold(there, 'book', SHARED),
        ];
        expect((await snapshot(there)).held).to.deep.equal(Array(3).fill('shared book'));
        for (const holding of holdings) await holding.end();
      },
    },
    {
      title: 'a reader is not granted ahead of a waiting writer',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const readers = [await hold(here, 'book', SHARED), await hold(there, 'book', SHARED)];
        const writer = hold(here, 'book');
        await here.query();
        const late = [hold(there, 'book', SHARED), hold(there, 'book', SHARED), hold(there, 'book', SHARED)];
        expect(await snapshot(there)).to.deep.equal({
          held: Array(2).fill('shared book'),
          pending: ['exclusive book', ...Array<string>(3).fill('shared book')],
        });
        for (const reader of readers) await reader.end();
        expect(await snapshot(there)).to.deep.equal({
          held: ['exclusive book'],
          pending: Array(3).fill('shared book'),
        });
        await (await writer).end();
        expect(await snapshot(there)).to.deep.equal({ held: Array(3).fill('shared book'), pending: [] });
        for (const reader of late) await (await reader).end();
      },
    },
    {
      title: 'callbacks of requests that need not wait run in the order of the requests, also across names',
      async check({ peer }) {
        const { locks } = peer();
        const order: number[] = [];
        const names = ['a', 'b', 'c', 'a', 'b', 'c'];
        await Promise.all(names.map((name, i) => locks.request(name, SHARED, () => order.push(i))));
        expect(order).to.deep.equal([0, 1, 2, 3, 4, 5]);
      },
    },
    {
      title: 'readers that are granted together run their callbacks in the order of their requests',
      async check({ peer }) {
        const { locks } = peer();
        const writer = await hold(peer().locks, 'book');
        const order: number[] = [];
        const readers = [0, 1, 2, 3, 4].map((i) => locks.request('book', SHARED, () => order.push(i)));
        await locks.query();
        await writer.end();
        await Promise.all(readers);
        expect(order).to.deep.equal([0, 1, 2, 3, 4]);
      },
    },
    {
      title: 'waiters of several clients are granted in the order of their requests',
      async check({ peer }) {
        const peers = [peer().locks, peer().locks, peer().locks];
        const first = await hold(peers[0]!, 'jobs');
        const order: number[] = [];
        const waiting: Promise<unknown>[] = [];
        for (const [i, locks] of [...peers, ...peers].entries()) {
          waiting.push(locks.request('jobs', () => order.push(i)));
          await locks.query();
        }
        await first.end();
        await Promise.all(waiting);
        safely(() => expect(order).to.deep.equal([0, 1, 2, 3, 4, 5]));
      },
    },
    {
      title: 'the lock of a client that dies passes to the next waiter, and a waiter that dies is skipped',
      async check({ peer, ttlMs }) {
        const [holder, waiter] = [peer({ ttlMs }), peer({ ttlMs })];
        const { locks } = peer();
        const lost = await hold(holder.locks, 'jobs');
        lost.result.catch(() => undefined);
        const skipped = reasonOf(waiter.locks.request('jobs', () => undefined));
        await waiter.locks.query();
        const next = locks.request('jobs', () => 'granted');
        await locks.query();
        await waiter.client.abandon();
        await holder.client.abandon();
        expect(await next).to.equal('granted');
        expect(await skipped)
          .to.have.property('code')
          .that.is.oneOf(['CLOSED', 'SESSION_LOST']);
      },
    },
  ],
};
