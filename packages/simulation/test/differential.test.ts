// The simulated etcd and a real one carry out the same operations, and say the same.
import { compareOn } from './compare-etcds.ts';

const SEEDS = 2;
const OPERATIONS = 150;

describe('a simulated etcd', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`answers and tells what a real one does (seed ${seed})`, () => compareOn(seed, OPERATIONS)).timeout(
      120_000,
    );
});
