// The simulated etcd and a real one execute the same operations with the same responses.
import { compareOn } from './compare-etcds.ts';

const SEED = 1;
const OPERATIONS = 150;

describe('a simulated etcd', () => {
  it('responds and notifies as a real one does', () => compareOn(SEED, OPERATIONS)).timeout(120_000);
});
