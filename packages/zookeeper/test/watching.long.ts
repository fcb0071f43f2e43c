import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, ending, newQueue, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

describe('a ZooKeeper queue', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('queues of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  it('notifies a holder within a second when an operator removes its entry', async () => {
    const session = await bench.session(server);
    const placement = await session.enqueue(newSpec(queue));
    const end = ending(placement);
    await asOperator(server, async (zk) => {
      await zk.delete(placement.key);
      const removedAt = performance.now();
      expect(await end).to.equal('ENTRY_LOST');
      expect(livedSince(removedAt)).to.be.lessThan(1_000);
    });
  });
});
