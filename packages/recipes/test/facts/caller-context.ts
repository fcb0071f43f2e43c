import { AsyncLocalStorage } from 'node:async_hooks';
import type { LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { tap, type Observable } from 'rxjs';
import { cohort, election, latch, semaphore, watchDeadlocks } from '../../src/index.ts';
import type { RecipeFact, Site } from '../frame.ts';

/** Stores the name of the caller whose code runs, as a web server does for each request. */
const caller = new AsyncLocalStorage<string>();
const CALLERS = ['Ann', 'Ben', 'Cid'] as const;

/**
 * Records each call of a callback: the caller that registered the callback, and the caller in whose async
 * context it ran.
 */
class Seen {
  readonly #calls: string[] = [];

  note(owner: string, what: string): void {
    this.#calls.push(`${what} of ${owner} as ${String(caller.getStore())}`);
  }

  has(owner: string, what: string): boolean {
    return this.#calls.some((call) => call.startsWith(`${what} of ${owner} `));
  }

  expectOwn(): void {
    expect(this.#calls.filter((call) => !/of (\w+) as \1$/.test(call))).to.deep.equal([]);
  }
}

/** Facts about the asynchronous context of callbacks and streams. Each fact is true on every store. */
export const callerContextFacts: readonly RecipeFact[] = [
  {
    title:
      'callbacks that several callers pass to one client run in the asynchronous context of the caller that passed them',
    async check(site) {
      const client = site.client();
      const seen = new Seen();
      const holder = await client.acquire(site.queue);
      const runs = CALLERS.map((owner) => caller.run(owner, () => begin(site, client, owner, seen)));
      for (const owner of CALLERS)
        await site.until(`${owner} waits`, () => seen.has(owner, 'onPosition') && seen.has(owner, 'watch'));
      await caller.run('Dan', () => holder.release());
      await Promise.all(runs);
      for (const owner of CALLERS)
        await site.until(`${owner} has held`, () => seen.has(owner, 'work') && seen.has(owner, 'claim'));
      await caller.run('Dan', () => client.close());
      for (const owner of CALLERS)
        await site.until(
          `${owner} has lost`,
          () => seen.has(owner, 'signal') && seen.has(owner, 'session$ closed'),
        );
      seen.expectOwn();
    },
  },
  {
    title: 'streams of recipes run in the asynchronous context of their subscriber',
    async check(site) {
      const client = site.client();
      const [queue, permits, count] = [site.queue, site.freshQueue(), site.freshQueue()] as const;
      const scheduler = election(client, queue, { value: 'a' });
      const uploads = semaphore(client, permits, { limit: 1, resizable: true });
      const parts = latch(client, count);
      const shared = cohort(client, site.freshQueue());
      const deadlocks$ = watchDeadlocks([{ client, names: [queue] }], { confirmMs: 0 });
      const streams: Readonly<Record<string, Observable<unknown>>> = {
        candidacy$: scheduler.candidacy$,
        isLeader$: scheduler.isLeader$,
        leader$: scheduler.leader$,
        candidates$: scheduler.candidates$,
        limit$: uploads.limit$,
        count$: parts.count$,
        deadlocks$,
      };
      const seen = new Seen();
      for (const owner of CALLERS)
        caller.run(owner, () => {
          for (const [what, stream$] of Object.entries(streams))
            site.follow(noting(stream$, what, owner, seen));
        });
      await caller.run('Dan', async () => {
        await uploads.resize(2);
        await parts.trySetCount(3);
      });
      const holds = await Promise.all([
        caller.run('Ann', async () => {
          const hold = await shared.acquire();
          hold.signal.addEventListener('abort', () => seen.note('Ann', 'cohort'));
          return hold;
        }),
        caller.run('Ann', () => site.until('it leads', () => seen.has('Ann', 'candidacy$'))),
      ]);
      await caller.run('Dan', () => shared.close());
      expect(holds[0].held).to.equal(false);
      for (const owner of CALLERS)
        for (const what of Object.keys(streams))
          await site.until(`${what} of ${owner}`, () => seen.has(owner, what));
      await parts.remove();
      await caller.run('Dan', () => client.close());
      seen.expectOwn();
      expect(seen.has('Ann', 'cohort')).to.equal(true);
    },
  },
];

/**
 * Makes one caller pass all kinds of callbacks to the client. Resolves when the caller's work is done and the
 * caller holds a lock.
 */
async function begin(site: Site, client: LockClient, owner: string, seen: Seen): Promise<void> {
  site.follow(noting(client.watch(site.queue), 'watch', owner, seen));
  site.follow(client.session$.pipe(tap(({ status }) => seen.note(owner, `session$ ${status}`))));
  const claim$ = noting(client.claimWithPosition(site.queue), 'claim', owner, seen);
  site.follow(claim$.pipe(tap((state) => void (state.status === 'held' && state.ownership.release()))));
  await client.run(site.queue, () => seen.note(owner, 'work'), {
    onPosition: () => seen.note(owner, 'onPosition'),
  });
  const { signal } = await client.acquire(site.freshQueue());
  signal.addEventListener('abort', () => seen.note(owner, 'signal'));
}

function noting<T>(stream$: Observable<T>, what: string, owner: string, seen: Seen): Observable<T> {
  const note = (): void => seen.note(owner, what);
  return stream$.pipe(tap({ next: note, complete: note }));
}
