import { expect } from 'chai';
import { barrier } from '../../src/index.ts';
import type { RecipeFact } from '../frame.ts';

export const barrierFacts: readonly RecipeFact[] = [
  {
    title: 'all waiters pass together when a barrier opens, and none before',
    async check({ client, queue, until, follow }) {
      const keeper = client();
      const closed = await barrier(keeper, queue).close();
      let passed = 0;
      const passing = [client(), client(), client()].map((one) =>
        barrier(one, queue)
          .pass()
          .then(() => (passed += 1)),
      );
      const seen = follow(keeper.watch(queue));
      await until('all wait', () => seen.last?.entries.length === 4);
      expect(passed).to.equal(0);
      await closed.release();
      await Promise.all(passing);
      await barrier(keeper, queue).pass();
      await until('nobody is left', () => seen.last?.entries.length === 0);
    },
  },
  {
    title: 'a barrier opens when the client that closed it dies',
    async check({ client, line, queue, ttlMs }) {
      const cut = await line();
      const closed = await barrier(cut.client({ ttlMs }), queue).close();
      const passing = barrier(client(), queue).pass();
      cut.cut();
      await passing;
      expect(closed.held).to.equal(false);
      await cut.mend();
    },
  },
  {
    title: 'a wait for a barrier ends at its timeout and leaves no entry',
    async check({ client, queue, until, follow }) {
      const keeper = client();
      const closed = await barrier(keeper, queue).close();
      const gate = barrier(client(), queue);
      for (const timeoutMs of [0, 50]) {
        expect(await gate.pass({ timeoutMs }).catch((error: unknown) => error)).to.include({
          code: 'TIMEOUT',
        });
      }
      const seen = follow(keeper.watch(queue));
      await until('only the closing entry is left', () => seen.last?.entries.length === 1);
      await closed.release();
    },
  },
];
