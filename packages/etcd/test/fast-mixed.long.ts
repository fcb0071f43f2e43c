import { FastBench } from './fast-bench.ts';
import { holdInOrder } from './fast-crowd.ts';

describe('entries of naming fast in an etcd queue with other entries', () => {
  const bench = new FastBench();

  for (const visitors of [0, 1]) {
    it(`are granted one at a time in order when many of them are cancelled${visitors ? ', and some entries have naming go' : ''}`, async () => {
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
