import { isQueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import { expect } from 'chai';
import type { RecipeFact } from '../frame.ts';
import { join } from '../join.ts';

async function expectRefusal(promise: Promise<unknown>, code: QueueLockErrorCode): Promise<void> {
  const error: unknown = await promise.then(
    () => new Error('it was let in'),
    (refusal: unknown) => refusal,
  );
  if (!isQueueLockError(error, code)) throw error;
}

export const admissionFacts: readonly RecipeFact[] = [
  {
    title: 'of ten clients that join at the same time, only `maxWaiters` wait, and the others leave no entry',
    async check({ client, queue }) {
      const clients = [client(), client(), client()];
      const holder = await clients[0]!.acquire(queue);
      const attempts = Array.from({ length: 10 }, (_, at) =>
        clients[at % 3]!.acquire(queue, { maxWaiters: 4 }).then(
          (ownership) => ownership.release().then(() => 'served'),
          (error: unknown) => (isQueueLockError(error, 'QUEUE_FULL') ? 'full' : error),
        ),
      );
      let refused = 0;
      await new Promise<void>((resolve) => {
        for (const attempt of attempts)
          void attempt.then((outcome) => {
            if (outcome === 'full' && (refused += 1) === 6) resolve();
          });
      });
      await holder.release();
      const outcomes = await Promise.all(attempts);
      expect(outcomes.filter((outcome) => outcome === 'served')).to.have.length(4);
      expect(outcomes.filter((outcome) => outcome === 'full')).to.have.length(6);
    },
  },
  {
    title: 'holders do not count as waiters for the option maxWaiters',
    async check({ client, queue }) {
      const locks = client();
      const holds = [
        await locks.acquire(queue, { limit: 2 }),
        await locks.acquire(queue, { limit: 2, maxWaiters: 1 }),
      ];
      const waiter = await join(client(), queue, { limit: 2, maxWaiters: 1 });
      await expectRefusal(client().acquire(queue, { limit: 2, maxWaiters: 1 }), 'QUEUE_FULL');
      for (const hold of holds) await hold.release();
      await (await waiter.held).release();
    },
  },
  {
    title: 'a claim whose expected wait exceeds maxExpectedWaitMs is rejected',
    async check({ client, queue }) {
      const slow = client();
      const own = await slow.acquire(queue);
      // Keeps the hold for 60 ms. Entries that join later publish this hold time in their labels.
      await new Promise((resolve) => setTimeout(resolve, 60));
      await own.release();
      const holder = await slow.acquire(queue);
      await expectRefusal(client().acquire(queue, { maxExpectedWaitMs: 10 }), 'WAIT_TOO_LONG');
      const neverAborted = await join(client(), queue, { maxExpectedWaitMs: 60_000 });
      await holder.release();
      await (await neverAborted.held).release();
    },
  },
  {
    title: 'a claim whose expected wait is unknown is accepted with any maxExpectedWaitMs',
    async check({ client, queue }) {
      const holder = await client().acquire(queue);
      const waiter = await join(client(), queue, { maxExpectedWaitMs: 0 });
      await holder.release();
      await (await waiter.held).release();
    },
  },
];
