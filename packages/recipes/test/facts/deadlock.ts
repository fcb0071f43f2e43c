import { isQueueLockError, type LockClient } from '@queuelock/core';
import { expect } from 'chai';
import type { Observable } from 'rxjs';
import { acquireOrYield, watchDeadlocks, type Deadlock } from '../../src/index.ts';
import type { RecipeFact, Site } from '../frame.ts';

type Deadlocks = Observable<readonly Deadlock[]>;

/** Facts about deadlocks. Each fact is true on every store. */
export const deadlockFacts: readonly RecipeFact[] = [
  {
    title: 'of two call chains in a cycle the younger one gives up, and the other one continues',
    async check(site) {
      const [x, y] = [site.queue, site.freshQueue()];
      const [ann, ben] = [site.client({ owner: 'ann' }), site.client({ owner: 'ben' })];
      const deadlocks$ = watchOver(site, x, y);
      const found = site.follow(deadlocks$);
      let bensEnd: unknown;
      const bothHold = meeting(2);
      const anns = ann.run(x, async () => {
        await bothHold();
        await takeAndRelease(ann, y, deadlocks$);
        return 'done';
      });
      const bens = ben.run(y, async () => {
        await bothHold();
        await site.until('ann waits', () => waiters(site, y));
        // Waits for the next millisecond, because the joining times of entries are in milliseconds.
        const now = Date.now();
        await site.until('ben is younger', () => Date.now() > now);
        bensEnd = await takeAndRelease(ben, x, deadlocks$).catch((error: unknown) => error);
      });
      await bens;
      expect(isQueueLockError(bensEnd, 'DEADLOCK'), String(bensEnd)).to.equal(true);
      expect(String(bensEnd)).to.include(`ben waits in "${x}" for ann, ann waits in "${y}" for ben`);
      expect(await anns).to.equal('done');
      await site.until('nobody waits in a circle any more', () => found.last?.length === 0);
      const [deadlock] = found.values.find((all) => all.length > 0)!;
      expect(deadlock!.waits.map(({ name, entry }) => [name, entry.owner])).to.deep.equal([
        [x, 'ben'],
        [y, 'ann'],
      ]);
      expect(deadlock!.victim.entry).to.include({ owner: 'ben', pid: process.pid });
    },
  },
  {
    title: 'three call chains in a cycle end one after the other',
    async check(site) {
      const names = [site.queue, site.freshQueue(), site.freshQueue()];
      const deadlocks$ = watchOver(site, ...names);
      const allHold = meeting(names.length);
      const ends = names.map(async (name, place) => {
        const client = site.client();
        return client.run(name, async () => {
          await allHold();
          return takeAndRelease(client, names[(place + 1) % names.length]!, deadlocks$);
        });
      });
      const results = await Promise.allSettled(ends);
      const failed = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      expect(failed.map(({ reason }) => isQueueLockError(reason, 'DEADLOCK'))).to.deep.equal([true]);
    },
  },
  {
    title: 'a reader that requests a second shared hold behind a waiting writer waits for its own first hold',
    async check(site) {
      const { queue } = site;
      const [ann, ben] = [site.client({ owner: 'ann' }), site.client({ owner: 'ben' })];
      const deadlocks$ = watchOver(site, queue);
      const read = await ann.acquire(queue, { mode: 'shared' });
      const write = ben.run(queue, () => 'written');
      await site.until('ben waits', () => waiters(site, queue));
      const again = acquireOrYield(ann, queue, { mode: 'shared', holding: [read], deadlocks$ });
      const error = await again.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(String(error))
        .to.include('ann waits in')
        .and.include('for ben, ben waits in')
        .and.include('for ann');
      await read.release();
      expect(await write).to.equal('written');
    },
  },
];

function watchOver(site: Site, ...names: readonly string[]): Deadlocks {
  return watchDeadlocks([{ client: site.client(), names }]);
}

async function takeAndRelease(client: LockClient, name: string, deadlocks$: Deadlocks): Promise<void> {
  const ownership = await acquireOrYield(client, name, { deadlocks$ });
  await ownership.release();
}

/**
 * Returns a function for `count` call chains that wait for each other. The promise of each call resolves when
 * the function has been called `count` times.
 */
function meeting(count: number): () => Promise<void> {
  let left = count;
  let open!: () => void;
  const all = new Promise<void>((resolve) => (open = resolve));
  return () => {
    left -= 1;
    if (left === 0) open();
    return all;
  };
}

/** Returns whether an entry waits behind the holder of the queue `name`. */
async function waiters(site: Site, name: string): Promise<boolean> {
  const queue = site.follow(site.client().watch(name));
  await site.until(`a picture of ${name}`, () => queue.last?.status === 'live');
  queue.stop();
  return queue.last!.entries.length > 1;
}
