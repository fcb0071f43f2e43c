import { HandOffBench } from './handoff-bench.ts';

describe('a hand-off on etcd', () => {
  const bench = new HandOffBench();

  for (const size of [2, 4]) {
    it(`among ${size} processes needs one removal and one write of the next holder's label, but no read`, () =>
      bench.goRound(size));
  }
});
