import { isQueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import type { RecipeFact } from '../frame.ts';
import { join } from '../join.ts';

const SHARED = { mode: 'shared' } as const;

export const readWriteFacts: readonly RecipeFact[] = [
  {
    title: 'readers hold together, a writer waits for all of them, and a later reader waits for the writer',
    async check({ client, queue, until }) {
      const [a, b, c, d] = [client(), client(), client(), client()];
      const one = await a.acquire(queue, SHARED);
      const two = await b.acquire(queue, SHARED);
      const writer = await join(c, queue);
      const late = await join(d, queue, SHARED);
      expect([one.shared, writer.ownership, late.ownership]).to.deep.equal([true, undefined, undefined]);
      await one.release();
      await two.release();
      const wrote = await writer.held;
      expect([wrote.shared, late.ownership]).to.deep.equal([false, undefined]);
      await wrote.release();
      const read = await late.held;
      expect(read.token > wrote.token, 'tokens grow').to.equal(true);
      await read.release();
      await until('empty', async () => (await a.tryAcquire(queue))?.release().then(() => true));
    },
  },
  {
    title: 'readers behind a writer are admitted together when the writer leaves',
    async check({ client, queue }) {
      const [a, b, c] = [client(), client(), client()];
      const writer = await a.acquire(queue);
      const readers = [
        await join(b, queue, SHARED),
        await join(c, queue, SHARED),
        await join(a, queue, SHARED),
      ];
      const next = await join(b, queue);
      const last = await join(c, queue, SHARED);
      await writer.release();
      const reading = await Promise.all(readers.map(({ held }) => held));
      expect([next.ownership, last.ownership]).to.deep.equal([undefined, undefined]);
      await Promise.all(reading.map((hold) => hold.release()));
      await (await next.held).release();
      await (await last.held).release();
    },
  },
  {
    title: 'a writer that becomes a reader admits the readers behind it, and no writer in between',
    async check({ client, queue, until, follow }) {
      const [a, b, c] = [client(), client(), client()];
      const own = await a.acquire(queue);
      const { token, order } = own;
      const reader = await join(b, queue, SHARED);
      const writer = await join(c, queue);
      const late = await join(a, queue, SHARED);
      await own.downgrade();
      expect([own.shared, own.held, own.token, own.order]).to.deep.equal([true, true, token, order]);
      const read = await reader.held;
      expect([writer.ownership, late.ownership]).to.deep.equal([undefined, undefined]);
      await own.downgrade();
      const seen = follow(c.watch(queue));
      await until('everybody sees it', () => seen.last?.entries[0]?.shared);
      await read.release();
      expect(writer.ownership, 'while the first still reads').to.equal(undefined);
      await own.release();
      await (await writer.held).release();
      await (await late.held).release();
    },
  },
  {
    title: 'a reader that was a writer loses its hold with its session',
    async check({ client, queue, line, ttlMs, until }) {
      const cut = await line();
      const own = await cut.client({ ttlMs }).acquire(queue);
      const writer = await join(client(), queue);
      await own.downgrade();
      cut.cut();
      await until('it is lost', () => !own.held);
      const error: unknown = await own
        .downgrade()
        .then(
          () => own.update({ metadata: {} }),
          (refusal: unknown) => refusal,
        )
        .catch((refusal: unknown) => refusal);
      expect(isQueueLockError(error, 'OWNERSHIP_LOST')).to.equal(true);
      await (await writer.held).release();
      await cut.mend();
    },
  },
  {
    title: 'a reader that requests the write lock during its hold is rejected',
    async check({ client, queue }) {
      const locks = client();
      const options = { ...SHARED, reentrant: true };
      const error = await locks
        .run(queue, () => locks.run(queue, () => undefined, { reentrant: true }), options)
        .catch((refusal: unknown) => refusal);
      expect(isQueueLockError(error, 'REENTRANT')).to.equal(true);
    },
  },
];
