// Compares the simulated etcd with a real one in new random sequences of 600 operations each.
import { randomInt } from 'node:crypto';
import { compareOn } from './compare-etcds.ts';

const SEEDS = Number(process.env['QUEUELOCK_SIMULATION_SECONDS'] ?? 60) / 6;
const OPERATIONS = 600;

describe('a simulated etcd', () => {
  const first = Number(process.env['QUEUELOCK_SEED'] ?? randomInt(2 ** 30));
  for (let seed = first; seed < first + SEEDS; seed += 1)
    it(`responds and notifies as a real etcd does in long sequences (seed ${seed})`, () =>
      compareOn(seed, OPERATIONS)).timeout(600_000);
});
