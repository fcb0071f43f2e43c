// Checks that the simulated etcd and a real one respond in the same way to the same operations.
import { compareOn } from './compare-etcds.ts';

const SEED = 1;
const OPERATIONS = 150;

describe('a simulated etcd', () => {
  it('responds and notifies as a real etcd does', () => compareOn(SEED, OPERATIONS)).timeout(120_000);
});
