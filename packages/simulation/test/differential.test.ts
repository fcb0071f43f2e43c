// The simulated etcd and a real one carry out the same operations, and say the same.
import { compareOn } from './compare-etcds.ts';

const SEED = 1;
const OPERATIONS = 150;

describe('a simulated etcd', () => {
  it('answers and tells what a real one does', () => compareOn(SEED, OPERATIONS)).timeout(120_000);
});
