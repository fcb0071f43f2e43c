import { expect } from 'chai';
import { hold, snapshot, type Facts } from '../frame.ts';

const SHARED = { mode: 'shared' } as const;

export const queryFacts: Facts = {
  about: 'query',
  facts: [
    {
      title: 'an unused scope has no held and no pending requests',
      async check({ peer }) {
        const state = await peer().locks.query();
        expect(Object.keys(state)).to.have.members(['held', 'pending']);
        expect(state).to.deep.equal({ held: [], pending: [] });
      },
    },
    {
      title: 'a query shows each request once, with its name, its mode and the id of its client',
      async check({ peer }) {
        const [here, there] = [peer({ clientId: 'tab 1' }).locks, peer().locks];
        const holdings = [
          await hold(here, 'a'),
          await hold(here, 'b', SHARED),
          await hold(there, 'b', SHARED),
        ];
        const waiting = [here.request('a', () => undefined)];
        await here.query();
        waiting.push(there.request('a', SHARED, () => undefined));
        await there.query();
        expect(here.clientId).to.equal('tab 1');
        expect(there.clientId).not.to.equal(here.clientId);
        const { held, pending } = await here.query();
        expect(held).to.deep.equal([
          { name: 'a', mode: 'exclusive', clientId: here.clientId },
          { name: 'b', mode: 'shared', clientId: here.clientId },
          { name: 'b', mode: 'shared', clientId: there.clientId },
        ]);
        expect(pending).to.deep.equal([
          { name: 'a', mode: 'exclusive', clientId: here.clientId },
          { name: 'a', mode: 'shared', clientId: there.clientId },
        ]);
        for (const holding of holdings) await holding.end();
        await Promise.all(waiting);
      },
    },
    {
      title: 'a query shows all earlier requests of its client, and no lock that this client has released',
      async check({ peer }) {
        const { locks } = peer();
        for (let i = 0; i < 5; i += 1) {
          const holding = hold(locks, 'jobs');
          const waiting = locks.request('jobs', () => undefined);
          expect(await snapshot(locks)).to.deep.equal({
            held: ['exclusive jobs'],
            pending: ['exclusive jobs'],
          });
          await (await holding).end();
          await waiting;
          expect(await snapshot(locks)).to.deep.equal({ held: [], pending: [] });
        }
      },
    },
    {
      title: 'simultaneous queries of several clients agree on requests that do not change',
      async check({ peer }) {
        const peers = [peer().locks, peer().locks, peer().locks];
        const holding = await hold(peers[0]!, 'jobs');
        const waiting = [];
        for (const locks of peers) {
          waiting.push(locks.request('jobs', () => undefined));
          await locks.query();
        }
        const [first, ...others] = await Promise.all([...peers, ...peers].map((locks) => locks.query()));
        for (const other of others) expect(other).to.deep.equal(first);
        expect(first?.pending.map(({ clientId }) => clientId)).to.deep.equal(
          peers.map(({ clientId }) => clientId),
        );
        await holding.end();
        await Promise.all(waiting);
      },
    },
    {
      title: 'a query shows a deadlock of two clients',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const mine = await hold(here, 'a');
        const theirs = await hold(there, 'b');
        const waiting = [here.request('b', () => undefined), there.request('a', () => undefined)];
        await there.query();
        const { held, pending } = await here.query();
        expect(held.map(({ name, clientId }) => [name, clientId])).to.deep.equal([
          ['a', here.clientId],
          ['b', there.clientId],
        ]);
        expect(pending.map(({ name, clientId }) => [name, clientId])).to.deep.equal([
          ['a', there.clientId],
          ['b', here.clientId],
        ]);
        await mine.end();
        await theirs.end();
        await Promise.all(waiting);
      },
    },
  ],
};
