import { expect } from 'chai';
import { expectDom, hold, snapshot, reasonOf, type Facts } from '../frame.ts';

const nobody = (): never => {
  throw new Error('no callback runs');
};

export const signalFacts: Facts = {
  about: 'signal',
  facts: [
    {
      title: 'a signal that has aborted rejects the request with its reason, custom or default',
      async check({ peer }) {
        const { locks } = peer();
        await expectDom('AbortError', locks.request('jobs', { signal: AbortSignal.abort() }, nobody));
        const reason = 'My dog ate it.';
        expect(await reasonOf(locks.request('jobs', { signal: AbortSignal.abort(reason) }, nobody))).to.equal(
          reason,
        );
        expect(await snapshot(locks)).to.deep.equal({ held: [], pending: [] });
      },
    },
    {
      title: 'an abort ends the wait immediately, and later requests are not affected',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const holding = await hold(there, 'jobs', { mode: 'shared' });
        const controller = new AbortController();
        const waiting = here.request('jobs', { signal: controller.signal }, nobody);
        expect(await snapshot(here)).to.deep.equal({ held: ['shared jobs'], pending: ['exclusive jobs'] });
        const reason = { why: 'enough' };
        controller.abort(reason);
        expect(await reasonOf(waiting)).to.equal(reason);
        const shared = { mode: 'shared', ifAvailable: true } as const;
        expect(await here.request('jobs', shared, (lock) => lock !== null)).to.equal(true);
        expect(await snapshot(here)).to.deep.equal({ held: ['shared jobs'], pending: [] });
        await holding.end();
      },
    },
    {
      title: 'an abort right after the request rejects it even if the lock is free',
      async check({ peer }) {
        const { locks } = peer();
        const controller = new AbortController();
        const aborted = locks.request('jobs', { signal: controller.signal }, nobody);
        const next = locks.request('jobs', () => 'granted');
        controller.abort();
        await expectDom('AbortError', aborted);
        expect(await next).to.equal('granted');
      },
    },
    {
      title: 'a signal that does not abort, or that aborts while the callback runs, has no effect',
      async check({ peer }) {
        const { locks } = peer();
        const controller = new AbortController();
        const { signal } = controller;
        expect(await locks.request('jobs', { signal }, () => 'granted')).to.equal('granted');
        const holding = await hold(locks, 'jobs', { signal });
        controller.abort();
        expect(holding.lock.held).to.equal(true);
        expect(await holding.end('resolved ok')).to.equal('resolved ok');
        const late = new AbortController();
        const ended = await hold(locks, 'jobs', { signal: late.signal });
        const result = ended.end('resolved too');
        late.abort();
        expect(await result).to.equal('resolved too');
      },
    },
    {
      title: 'a waiter behind an aborted request is granted when the holder releases',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        const holding = await hold(here, 'jobs');
        const controller = new AbortController();
        const aborted = reasonOf(here.request('jobs', { signal: controller.signal }, nobody));
        await here.query();
        const behind = there.request('jobs', () => 'granted');
        await there.query();
        controller.abort();
        await aborted;
        await holding.end();
        expect(await behind).to.equal('granted');
      },
    },
    {
      title:
        'a request whose signal aborts at about the moment of the grant runs its callback completely or not at all',
      async check({ peer }) {
        const [here, there] = [peer().locks, peer().locks];
        for (let i = 0; i < 12; i += 1) {
          const holding = await hold(there, 'jobs');
          const controller = new AbortController();
          let runs = 0;
          const raced = here.request('jobs', { signal: controller.signal }, () => (runs += 1));
          await here.query();
          const ended = holding.end();
          for (let turns = 0; turns < i; turns += 1) await new Promise((resolve) => setImmediate(resolve));
          controller.abort();
          const [outcome] = await Promise.allSettled([raced, ended]);
          expect(runs).to.equal(outcome.status === 'fulfilled' ? 1 : 0);
        }
        expect(await here.request('jobs', { ifAvailable: true }, (lock) => lock !== null)).to.equal(true);
      },
    },
  ],
};
