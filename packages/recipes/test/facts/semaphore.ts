import type { SharedOwnership } from '@queuelock/core';
import { expect } from 'chai';
import { semaphore } from '../../src/index.ts';
import type { RecipeFact } from '../frame.ts';
import { join } from '../join.ts';

export const semaphoreFacts: readonly RecipeFact[] = [
  {
    title: 'permits are granted first come, first served, up to the limit',
    async check({ client, queue, until }) {
      const limit = 3;
      const [a, b, c] = [client(), client(), client()].map((one) => semaphore(one, queue, { limit }));
      const two = await a!.acquire({ permits: 2 });
      const one = await b!.acquire();
      expect(await c!.tryAcquire()).to.equal(undefined);
      const big = await join(client(), queue, { limit, permits: 2 });
      const small = await join(client(), queue, { limit });
      await one.release();
      expect(await c!.tryAcquire(), 'one is free, but somebody waits').to.equal(undefined);
      await two.release();
      const [first, second] = [await big.held, await small.held];
      expect(second.token > first.token, 'tokens grow').to.equal(true);
      await Promise.all([first.release(), second.release()]);
      await until('all are back', async () =>
        (await a!.tryAcquire({ permits: 3 }))?.release().then(() => true),
      );
    },
  },
  {
    title: 'a semaphore never has more holders than its limit, while many clients join and leave',
    async check({ client, queue }) {
      let holding = 0;
      let most = 0;
      let meet!: () => void;
      const met = new Promise<void>((resolve) => (meet = resolve));
      const pools = [client(), client()].map((one) => semaphore(one, queue, { limit: 2 }));
      const work = async (): Promise<void> => {
        most = Math.max(most, (holding += 1));
        if (holding === 2) meet();
        await met;
        await new Promise((resolve) => setImmediate(resolve));
        holding -= 1;
      };
      await Promise.all(Array.from({ length: 12 }, (_, n) => pools[n % 2]!.run(work)));
      expect([holding, most]).to.deep.equal([0, 2]);
    },
  },
  {
    title: 'a client that finds another limit in an entry ahead is rejected',
    async check({ client, queue }) {
      const permit = await semaphore(client(), queue, { limit: 2 }).acquire();
      const error: unknown = await semaphore(client(), queue, { limit: 3 })
        .acquire()
        .catch((reason: unknown) => reason);
      expect(error).to.include({ code: 'LIMIT_MISMATCH' });
      await permit.release();
    },
  },
  {
    title: 'waiters are admitted as soon as the limit of a semaphore grows',
    async check({ client, queue, until, follow }) {
      const clients = [client(), client(), client()];
      const pools = clients.map((one) => semaphore(one, queue, { limit: 1, resizable: true }));
      const held: SharedOwnership[] = [];
      const acquire = (at: number): Promise<unknown> =>
        pools[at]!.acquire().then((permit) => held.push(permit));
      await acquire(0);
      const waiting = [acquire(1), acquire(2)];
      const seen = follow(clients[0]!.watch(queue));
      await until('both wait', () => seen.last?.entries.length === 3);
      expect(held.length).to.equal(1);
      await pools[2]!.resize(3);
      await Promise.all(waiting);
      const limits = follow(pools[0]!.limit$);
      await pools[1]!.resize(1);
      await until('all know of it', () => limits.last === 1);
      expect(held.map((permit) => permit.held)).to.deep.equal([true, true, true]);
      limits.stop();
      for (const permit of held) await permit.release();
      await clients[0]!.register(queue, 'limit').change(() => undefined);
    },
  },
];
