import { isQueueLockError, type LockClient, type QueueEntry } from '@queuelock/core';
import { expect } from 'chai';
import { filter, firstValueFrom, map } from 'rxjs';
import type { RecipeFact } from '../frame.ts';
import { join } from '../join.ts';

/** Returns the entries of a queue as they are now. */
function readState(client: LockClient, queue: string): Promise<readonly QueueEntry[]> {
  return firstValueFrom(
    client.watch(queue).pipe(
      filter(({ status }) => status === 'live'),
      map(({ entries }) => entries),
    ),
    { defaultValue: [] },
  );
}

async function first(client: LockClient, queue: string): Promise<QueueEntry> {
  const [entry] = await readState(client, queue);
  if (!entry) throw new Error(`nobody is in ${queue}`);
  return entry;
}

/**
 * Deletes the record of an eviction from the queue's register. Otherwise the check for leftovers after the
 * test would find it.
 */
async function forget(client: LockClient, queue: string): Promise<void> {
  await client.register(queue, 'evictions').change(() => undefined);
}

export const operatorFacts: readonly RecipeFact[] = [
  {
    title: 'a holder that is evicted learns the operator and the reason, and the next waiter is granted',
    async check({ client, queue, follow, until }) {
      const [a, b, operator] = [client(), client(), client({ owner: 'operator' })];
      const seen = follow(b.evictions(queue));
      const work = a.run(
        queue,
        ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
      );
      await until('it holds', async () => (await readState(operator, queue)).length === 1);
      const next = await join(b, queue);
      const entry = await first(operator, queue);
      expect(await operator.evict(queue, entry, { reason: 'it hangs' })).to.equal(true);
      const error: unknown = await work.catch((loss: unknown) => loss);
      if (!isQueueLockError(error, 'OWNERSHIP_LOST')) throw error;
      expect(error.reason).to.equal('entry-removed');
      expect(error.eviction).to.include({ by: 'operator', reason: 'it hangs', kind: 'evicted' });
      await (await next.held).release();
      await until('all see it', () => seen.last?.length === 1 && seen.last[0]?.entry.id === entry.id);
      await forget(operator, queue);
    },
  },
  {
    title: 'a waiter that is evicted learns the operator and the reason',
    async check({ client, queue }) {
      const [a, b, operator] = [client(), client(), client({ owner: 'operator' })];
      const holder = await a.acquire(queue);
      const waiter = await join(b, queue);
      const entry = (await readState(operator, queue))[1]!;
      await operator.evict(queue, entry, { reason: 'not your turn' });
      const error: unknown = await waiter.held.catch((loss: unknown) => loss);
      if (!isQueueLockError(error, 'ENTRY_LOST')) throw error;
      expect(error.eviction).to.include({ by: 'operator', reason: 'not your turn' });
      expect(holder.held).to.equal(true);
      await holder.release();
      await forget(operator, queue);
    },
  },
  {
    title: 'an eviction of an entry that has already left changes nothing',
    async check({ client, queue }) {
      const [a, operator] = [client(), client()];
      const holder = await a.acquire(queue);
      const entry = await first(operator, queue);
      await holder.release();
      const next = await a.acquire(queue);
      expect(await operator.evict(queue, entry, { reason: 'late' })).to.equal(false);
      expect(next.held).to.equal(true);
      expect(await operator.register(queue, 'evictions').read()).to.equal(undefined);
      await next.release();
    },
  },
  {
    title: 'a claim that steals is granted next, and the previous holder is notified',
    async check({ client, queue, until }) {
      const [a, b, c, thief] = [client(), client(), client(), client({ owner: 'thief' })];
      const victim = await join(a, queue);
      const stolen = await victim.held;
      const [one, two] = [await join(b, queue), await join(c, queue)];
      const token = one.queued?.token ?? 0n;
      const own = await thief.acquire(queue, { steal: { reason: 'an emergency' } });
      await until('the victim has ended', () => victim.states.at(-1)?.status === 'ended');
      const end = victim.states.at(-1);
      expect(end).to.include({ status: 'ended', outcome: 'lost' });
      const loss = end?.status === 'ended' && end.outcome === 'lost' ? end.error : undefined;
      expect(loss?.eviction).to.include({ kind: 'stolen', by: 'thief', reason: 'an emergency' });
      expect(stolen.held).to.equal(false);
      await until('the others stand behind', async () => (await readState(a, queue)).length === 3);
      expect([one.ownership, two.ownership]).to.deep.equal([undefined, undefined]);
      await own.release();
      const after = await Promise.race([one.held, two.held]);
      expect(after.token > own.token && after.token > token, 'its new place has a larger token').to.equal(
        true,
      );
      await after.release();
      const last = await (after === one.ownership ? two.held : one.held);
      await last.release();
      await forget(a, queue);
    },
  },
  {
    title: 'a steal of a free lock is granted like any acquisition',
    async check({ client, queue }) {
      const own = await client().acquire(queue, { steal: { reason: 'why not' } });
      await own.release();
    },
  },
  {
    title: 'an entry shows its owner, host, process, joining time, holds and typical hold time',
    async check({ client, queue, freshQueue }) {
      const other = freshQueue();
      const locks = client({ owner: 'billing' });
      const before = Date.now();
      await locks.run(queue, () => undefined);
      await locks.run(other, async (outer) => {
        await locks.run(
          queue,
          async () => {
            const entry = await first(locks, queue);
            expect(entry).to.include({ owner: 'billing', pid: process.pid, permits: 1, limit: 1 });
            expect(entry.metadata).to.deep.equal({ job: '7' });
            expect(entry.holds).to.deep.equal([outer.id]);
            expect(entry.host).to.be.a('string');
            expect(entry.since).to.be.within(before, Date.now());
            expect(entry.typicalHoldMs).to.be.a('number');
          },
          { metadata: { job: '7' } },
        );
      });
    },
  },
  {
    title: 'a holder can replace its published metadata, but not after its release',
    async check({ client, queue }) {
      const locks = client();
      const own = await locks.acquire(queue, { metadata: { step: '0' } });
      await Promise.all(['1', '2', '3'].map((step) => own.update({ metadata: { step } })));
      expect((await first(locks, queue)).metadata).to.deep.equal({ step: '3' });
      await own.release();
      const error: unknown = await own.update({ metadata: {} }).catch((refusal: unknown) => refusal);
      expect(isQueueLockError(error, 'OWNERSHIP_LOST')).to.equal(true);
    },
  },
];
