// Compares the simulated ZooKeeper with a real one in 20 new random sequences of 5,000 requests each.
import { randomInt } from 'node:crypto';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { compareWith } from './compare-zookeepers.ts';

const SEEDS = 20;
const REQUESTS = 5_000;

describe('a simulated ZooKeeper', () => {
  const first = Number(process.env['QUEUELOCK_SEED'] ?? randomInt(2 ** 30));
  for (let seed = first; seed < first + SEEDS; seed += 1)
    it(`responds and notifies as a real ZooKeeper does in long sequences (seed ${seed})`, async () => {
      const { endpoint } = await sharedZooKeeper('a simulated ZooKeeper');
      await compareWith(endpoint, { seed, count: REQUESTS });
    }).timeout(600_000);
});
