// The simulated ZooKeeper and a real one carry out the same requests, and say the same.
import { sharedZooKeeper } from '../../../integration/services.ts';
import { compareWith } from './compare-zookeepers.ts';

const SEEDS = 2;
const REQUESTS = 1_000;

describe('a simulated ZooKeeper', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`answers and tells what a real one does (seed ${seed})`, async () => {
      const { endpoint } = await sharedZooKeeper('a simulated ZooKeeper');
      await compareWith(endpoint, { seed, count: REQUESTS });
    }).timeout(120_000);
});
