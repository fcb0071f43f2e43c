import { expect } from 'chai';
import { cohort } from '../../src/index.ts';
import type { RecipeFact } from '../frame.ts';
import { join } from '../join.ts';

export const cohortFacts: readonly RecipeFact[] = [
  {
    title: 'a cohort lets another client hold after `handOffs` local hand-offs',
    async check({ client, queue, follow, until }) {
      const mine = client();
      const crew = cohort(mine, queue, { handOffs: 3 });
      const order: string[] = [];
      const holder = await crew.acquire();
      const running = Array.from({ length: 8 }, (_, n) => crew.run(() => order.push(String(n))));
      const other = await join(client(), queue);
      void other.held.then((ownership) => {
        order.push('rival');
        return ownership.release();
      });
      const seen = follow(mine.watch(queue));
      await until('two entries', () => seen.last?.entries.length === 2);
      await holder.release();
      await Promise.all(running);
      expect(order).to.deep.equal(['0', '1', '2', 'rival', '3', '4', '5', '6', '7']);
      await until('nothing is left', () => seen.last?.entries.length === 0);
    },
  },
  {
    title: 'when a cohort loses its hold, its holder is notified and its waiters continue with a new entry',
    async check({ client, line, queue, ttlMs, until }) {
      const cut = await line();
      const crew = cohort(cut.client({ ttlMs }), queue);
      const first = await crew.acquire();
      const next = crew.acquire();
      let isUnreported: boolean | undefined;
      first.signal.addEventListener('abort', () => (isUnreported = false));
      const other = await join(client(), queue);
      cut.cut();
      const own = await other.held;
      expect([isUnreported, first.held]).to.deep.equal([false, false]);
      await cut.mend();
      await own.release();
      const went = await next;
      expect(went.token > own.token).to.equal(true);
      await went.release();
      await until('it is free', async () => (await client().tryAcquire(queue))?.release().then(() => true));
    },
  },
];
