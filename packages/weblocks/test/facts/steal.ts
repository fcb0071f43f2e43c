import type { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { safely } from '@queuelock/harness/safety';
import { expectDom, hold, snapshot, type Facts } from '../frame.ts';

const STEAL = { steal: true } as const;
const never = new Promise<never>(() => undefined);

export const stealFacts: Facts = {
  about: 'steal',
  facts: [
    {
      title: 'a request with steal is granted a free lock like any other request',
      async check({ peer }) {
        expect(await peer().locks.request('jobs', STEAL, (lock) => lock?.mode)).to.equal('exclusive');
      },
    },
    {
      title: 'a request with steal gets a held lock, and the former request rejects with an AbortError',
      async check({ peer }) {
        for (const robber of [undefined, peer().locks]) {
          const { locks } = peer();
          const robbed = await hold(locks, 'jobs');
          const failed = expectDom('AbortError', robbed.result);
          const tokens = await (robber ?? locks).request('jobs', STEAL, (lock) => [
            robbed.lock.token,
            lock?.token,
          ]);
          safely(() => expect(tokens[1]! > tokens[0]!).to.equal(true));
          const { cause } = await failed;
          expect((cause as QueueLockError).code).to.equal('OWNERSHIP_LOST');
          expect([robbed.lock.held, robbed.lock.signal.aborted]).to.deep.equal([false, true]);
          await robbed.end('too late').catch(() => undefined);
        }
      },
    },
    {
      title: 'a request with steal takes the lock from all of its readers',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const readers = [
          await hold(here, 'book', { mode: 'shared' }),
          await hold(there, 'book', { mode: 'shared' }),
        ];
        const failed = readers.map(({ result }) => expectDom('AbortError', result));
        await peer().locks.request('book', STEAL, () => undefined);
        await Promise.all(failed);
      },
    },
    {
      title: 'the later of two requests with steal holds the lock',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        here.request('jobs', () => never).catch(() => undefined);
        const first = expectDom(
          'AbortError',
          here.request('jobs', STEAL, () => never),
        );
        await here.query();
        expect(await there.request('jobs', STEAL, () => 'mine')).to.equal('mine');
        await first;
      },
    },
    {
      title: 'waiters stay in order behind a request with steal, as do requests that arrive during the steal',
      async check({ peer }) {
        const peers = [peer().locks, peer().locks, peer().locks];
        const robbed = await hold(peers[0]!, 'jobs');
        const failed = expectDom('AbortError', robbed.result);
        const order: string[] = [];
        const waiting: Promise<unknown>[] = [];
        for (const [i, locks] of [...peers, ...peers].entries()) {
          waiting.push(locks.request('jobs', () => order.push(`waiter ${i}`)));
          await locks.query();
        }
        const thief = await hold(peers[2]!, 'jobs', STEAL);
        await failed;
        order.push('thief');
        waiting.push(peers[0]!.request('jobs', () => order.push('late')));
        const { held, pending } = await peers[0]!.query();
        expect(held.map(({ clientId }) => clientId)).to.deep.equal([peers[2]!.clientId]);
        expect(pending.map(({ clientId }) => clientId)).to.deep.equal(
          [...peers, ...peers, peers[0]!].map(({ clientId }) => clientId),
        );
        await thief.end();
        await Promise.all(waiting);
        expect(order).to.deep.equal(['thief', ...[0, 1, 2, 3, 4, 5].map((i) => `waiter ${i}`), 'late']);
      },
    },
    {
      title: 'no waiter is granted between the former holder and a request with steal',
      async check({ peer }) {
        const [robbed, waiter, thief] = [peer().locks, peer().locks, peer().locks];
        for (let i = 0; i < 8; i += 1) {
          const tokens: bigint[] = [];
          const holding = await hold(robbed, 'jobs');
          const ended = holding.result.catch(() => undefined);
          const waits = waiter
            .request('jobs', (lock) => {
              tokens.push(lock!.token);
              return i % 2 === 0 ? undefined : waiter.query();
            })
            .catch(() => undefined);
          await waiter.query();
          const stolen = thief.request('jobs', STEAL, (lock) => tokens.push(lock!.token));
          // In some iterations the holder releases by itself, and the waiter may be granted before the
          // request with `steal`. The waiter then loses the lock to that request, unless its callback has
          // ended before.
          if (i > 3) void holding.end();
          await Promise.all([stolen, waits, ended]);
          await holding.end().catch(() => undefined);
          safely(() => expect(tokens).to.deep.equal([...tokens].sort((a, b) => (a < b ? -1 : 1))));
        }
        expect(await snapshot(thief)).to.deep.equal({ held: [], pending: [] });
      },
    },
  ],
};
