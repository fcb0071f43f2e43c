import type { LockMode } from '@queuelock/weblocks';
import { expect } from 'chai';
import { safely } from '@queuelock/harness/safety';
import { hold, snapshot, reasonOf, type Facts } from '../frame.ts';

const IF_AVAILABLE = { ifAvailable: true } as const;

const PAIRS: readonly (readonly [LockMode, LockMode, boolean])[] = [
  ['exclusive', 'exclusive', false],
  ['exclusive', 'shared', false],
  ['shared', 'exclusive', false],
  ['shared', 'shared', true],
];

export const ifAvailableFacts: Facts = {
  about: 'ifAvailable',
  facts: [
    {
      title: 'a request with ifAvailable gets a free lock, also while a lock of another name is held',
      async check({ peer }) {
        const { locks } = peer();
        const other = await hold(locks, 'other');
        expect(await locks.request('jobs', IF_AVAILABLE, (lock) => lock?.name)).to.equal('jobs');
        await other.end();
      },
    },
    ...PAIRS.map(([held, requested, granted]) => ({
      title: `a request for the mode ${requested} with ifAvailable, while a lock of the mode ${held} is held, is ${granted ? 'granted' : 'not granted'} to the holder and to another client`,
      async check({ peer }: Parameters<Facts['facts'][number]['check']>[0]) {
        const { locks } = peer();
        const holding = await hold(locks, 'jobs', { mode: held });
        for (const requester of [locks, peer().locks]) {
          const isGranted = requester.request(
            'jobs',
            { mode: requested, ...IF_AVAILABLE },
            (lock) => lock !== null,
          );
          expect(await isGranted).to.equal(granted);
        }
        await holding.end();
      },
    })),
    {
      title: 'a request with ifAvailable resolves with the result that its callback returns for null',
      async check({ peer }) {
        const { locks } = peer();
        const holding = await hold(locks, 'jobs');
        expect(await locks.request('jobs', IF_AVAILABLE, (lock) => lock ?? 'none')).to.equal('none');
        const error = new Error('thrown');
        const thrown = locks.request('jobs', IF_AVAILABLE, () => {
          throw error;
        });
        expect(await reasonOf(thrown)).to.equal(error);
        const refused = locks.request('jobs', IF_AVAILABLE, async () => {
          throw error;
        });
        expect(await reasonOf(refused)).to.equal(error);
        await holding.end();
      },
    },
    {
      title: 'a reader with ifAvailable is not granted ahead of a waiting writer, and leaves no entry',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const reader = await hold(here, 'book', { mode: 'shared' });
        const writer = hold(here, 'book');
        await here.query();
        const before = await snapshot(there);
        expect(before).to.deep.equal({ held: ['shared book'], pending: ['exclusive book'] });
        for (const locks of [here, there])
          expect(await locks.request('book', { mode: 'shared', ...IF_AVAILABLE }, (lock) => lock)).to.equal(
            null,
          );
        expect(await snapshot(there)).to.deep.equal(before);
        await reader.end();
        await (await writer).end();
      },
    },
    {
      title:
        'a request with ifAvailable gets null while another client is at the front of the queue, and delays no other client',
      async check({ peer, scope }) {
        const { locks, client } = peer();
        const front = await client.acquire(`${scope}/line/jobs`);
        expect(await peer().locks.request('jobs', IF_AVAILABLE, (lock) => lock)).to.equal(null);
        expect(await client.run(`${scope}/hold/jobs`, () => 'granted', { timeoutMs: 0 })).to.equal('granted');
        await front.release();
        expect(await locks.request('jobs', IF_AVAILABLE, (lock) => lock !== null)).to.equal(true);
      },
    },
    {
      title: 'a lock is available as soon as the request that held it has settled',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        for (let i = 0; i < 5; i += 1) {
          await here.request('jobs', () => undefined);
          for (const locks of [here, there])
            expect(await locks.request('jobs', IF_AVAILABLE, (lock) => lock !== null)).to.equal(true);
        }
      },
    },
    {
      title: 'at most one of many simultaneous requests with ifAvailable is granted',
      async check({ peer }) {
        const peers = [peer().locks, peer().locks, peer().locks];
        let holders = 0;
        let most = 0;
        await Promise.all(
          peers.map((locks) =>
            locks.request('jobs', IF_AVAILABLE, async (lock) => {
              if (!lock) return;
              most = Math.max(most, (holders += 1));
              await locks.query();
              holders -= 1;
            }),
          ),
        );
        safely(() => expect(most).to.be.at.most(1));
      },
    },
  ],
};
