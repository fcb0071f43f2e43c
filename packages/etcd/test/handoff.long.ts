import { HandOffBench } from './handoff-bench.ts';

describe('a hand-off on etcd', () => {
  const bench = new HandOffBench();

  for (const size of [2, 4]) {
    it(`in a ring of ${size} processes costs one removal, one write of the next holder's label, and no read`, () =>
      bench.goRound(size));
  }
});
