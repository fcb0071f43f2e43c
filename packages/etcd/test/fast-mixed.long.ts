import { FastBench } from './fast-bench.ts';
import { holdInOrder } from './fast-crowd.ts';

describe('fast entries of etcd next to others in one line', () => {
  const bench = new FastBench();

  for (const visitors of [0, 1]) {
    it(`hold one at a time, in the order in which they came, where many give up${visitors ? ', and some are of naming go' : ''}`, async () => {
      const session = await bench.open();
      await bench.makeLong();
      await holdInOrder(bench, {
        sessions: [session, await bench.open(), await bench.open(), session],
        visitors: visitors ? [await bench.open('go')] : [],
        holds: 120,
      });
    });
  }
});
