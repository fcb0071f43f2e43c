// The simulated ZooKeeper and a real one execute the same requests with the same responses.
import { sharedZooKeeper } from '@queuelock/harness/services';
import { compareWith } from './compare-zookeepers.ts';

const SEED = 1;
const REQUESTS = 1_000;

describe('a simulated ZooKeeper', () => {
  it('responds and notifies as a real one does', async () => {
    const { endpoint } = await sharedZooKeeper('a simulated ZooKeeper');
    await compareWith(endpoint, { seed: SEED, count: REQUESTS });
  }).timeout(120_000);
});
