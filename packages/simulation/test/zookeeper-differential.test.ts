// Checks that the simulated ZooKeeper and a real one respond in the same way to the same requests.
import { sharedZooKeeper } from '@queuelock/harness/services';
import { compareWith } from './compare-zookeepers.ts';

const SEED = 1;
const REQUESTS = 1_000;

describe('a simulated ZooKeeper', () => {
  it('responds and notifies as a real ZooKeeper does', async () => {
    const { endpoint } = await sharedZooKeeper('a simulated ZooKeeper');
    await compareWith(endpoint, { seed: SEED, count: REQUESTS });
  }).timeout(120_000);
});
