import { createLockManager } from '@queuelock/weblocks';
import { expect } from 'chai';
import { expectDom, hold, snapshot, reasonOf, type Facts } from '../frame.ts';

export const lifeFacts: Facts = {
  about: 'the lifetime of a manager',
  facts: [
    {
      title: 'close ends all holds and waits, and leaves nothing in the store',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const holding = await hold(here, 'jobs');
        const lost = expectDom('AbortError', holding.result);
        const waiting = reasonOf(here.request('jobs', () => undefined));
        const queued = here.request('other', () => new Promise(() => undefined));
        queued.catch(() => undefined);
        await here.close();
        await lost;
        expect(String(await waiting)).to.include('CLOSED');
        expect(await snapshot(there)).to.deep.equal({ held: [], pending: [] });
        expect(String(await reasonOf(here.request('jobs', () => undefined)))).to.include('CLOSED');
        expect(String(await reasonOf(here.query()))).to.include('CLOSED');
        await here.close();
      },
    },
    {
      title: 'a manager over a backend creates its own client, and closes it',
      async check({ connect, scope, peer }) {
        const { locks } = peer();
        {
          await using own = createLockManager(connect(), { scope });
          void reasonOf(own.request('jobs', () => new Promise(() => undefined)));
          await own.query();
          expect((await snapshot(locks)).held).to.deep.equal(['exclusive jobs']);
        }
        expect((await snapshot(locks)).held).to.deep.equal([]);
      },
    },
    {
      title: 'a manager over a client that was passed in leaves it open',
      async check({ peer }) {
        const { locks, client } = peer();
        await locks.request('jobs', () => undefined);
        await locks.close();
        expect(await client.run('beside', () => 'still here')).to.equal('still here');
      },
    },
    {
      title:
        'the loss of a session rejects requests that hold with an AbortError, and waiting ones with SESSION_LOST or CLOSED',
      async check({ peer, until }) {
        const [victim, other] = [peer(), peer().locks];
        const theirs = await hold(other, 'theirs');
        const mine = await hold(victim.locks, 'mine');
        const waiting = reasonOf(victim.locks.request('theirs', () => undefined));
        await victim.locks.query();
        const lost = expectDom('AbortError', mine.result);
        await victim.client.close();
        expect((await lost).cause).to.have.property('code', 'OWNERSHIP_LOST');
        expect(mine.lock.signal.aborted).to.equal(true);
        expect(await waiting)
          .to.have.property('code')
          .that.is.oneOf(['CLOSED', 'SESSION_LOST']);
        await theirs.end();
        await until('nobody holds', async () => (await other.query()).held.length === 0);
      },
    },
    {
      title:
        'a request whose entry an operator removes rejects with ENTRY_LOST, or with an AbortError if it holds',
      async check({ peer, scope }) {
        const [here, operator] = [peer().locks, peer().client];
        const holding = await hold(here, 'jobs');
        const waiting = reasonOf(here.request('jobs', () => undefined));
        const behind = reasonOf(here.request('jobs', () => undefined));
        await here.query();
        const kick = async (queue: string): Promise<void> => {
          const entry = await new Promise<Parameters<typeof operator.evict>[1]>((resolve) => {
            const subscription = operator.watch(queue).subscribe(({ status, entries }) => {
              if (status !== 'live') return;
              queueMicrotask(() => subscription.unsubscribe());
              resolve(entries.at(-1)!);
            });
          });
          expect(await operator.evict(queue, entry, { reason: 'a test' })).to.equal(true);
        };
        await kick(`${scope}/line/jobs`);
        expect(await behind).to.have.property('code', 'ENTRY_LOST');
        await kick(`${scope}/hold/jobs`);
        expect(await waiting).to.have.property('code', 'ENTRY_LOST');
        await kick(`${scope}/hold/jobs`);
        await expectDom('AbortError', holding.result);
      },
    },
  ],
};
