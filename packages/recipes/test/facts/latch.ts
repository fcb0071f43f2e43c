import { expect } from 'chai';
import { latch } from '../../src/index.ts';
import type { RecipeFact } from '../frame.ts';

export const latchFacts: readonly RecipeFact[] = [
  {
    title: 'all waiters of a latch continue when its count reaches 0',
    async check({ client, queue, follow, until }) {
      const [a, b, c] = [client(), client(), client()].map((one) => latch(one, queue));
      const counts = follow(c!.count$);
      expect([await a!.trySetCount(10), await b!.trySetCount(3)]).to.deep.equal([true, false]);
      const waits = [a!.wait(), b!.wait(), c!.wait()];
      const left = await Promise.all(Array.from({ length: 9 }, (_, n) => [a!, b!, c!][n % 3]!.countDown()));
      expect(left.map(Number).sort((one, other) => one - other)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      await until('seen', () => counts.last === 1);
      expect(await c!.wait({ timeoutMs: 0 }).catch((error: unknown) => error)).to.include({
        code: 'TIMEOUT',
      });
      expect(await b!.countDown()).to.equal(0);
      await Promise.all(waits);
      await a!.wait({ timeoutMs: 0 });
      await until('seen', () => counts.last === 0);
      await a!.remove();
      await until('seen', () => counts.last === undefined);
    },
  },
  {
    title: 'the count of a latch outlives the clients that set it and count it down',
    async check({ client, queue }) {
      const [setter, counter] = [client(), client()];
      await latch(setter, queue).trySetCount(2);
      await setter.close();
      expect(await latch(counter, queue).countDown()).to.equal(1);
      await counter.close();
      const last = latch(client(), queue);
      expect(await last.countDown()).to.equal(0);
      await last.wait();
      await last.remove();
    },
  },
  {
    title: 'a waiter that was cut off from a latch resolves when it reads that the count is 0',
    async check({ client, line, queue, follow, until }) {
      const cut = await line();
      const own = latch(client(), queue);
      await own.trySetCount(1);
      const far = latch(cut.client(), queue);
      const counts = follow(far.count$);
      await until('seen', () => counts.last === 1);
      const wait = far.wait();
      cut.cut();
      await own.countDown();
      await cut.mend();
      await wait;
      await own.remove();
    },
  },
];
