import { HandOffBench } from './handoff-bench.ts';

describe('a hand-off on etcd', () => {
  const bench = new HandOffBench();

  for (const size of [2, 4]) {
    it(`in a ring of ${size} processes reads nothing: there is the removal, and a note while the next one holds`, () =>
      bench.goRound(size));
  }
});
