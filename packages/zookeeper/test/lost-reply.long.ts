import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, newQueue, outcome, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

describe('a request that reaches ZooKeeper after its call has failed', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('leaves no entry when the client removes the entry after the failure', async () => {
    const server = (await sharedZooKeeper('late requests in @queuelock/zookeeper')).endpoint;
    const proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    const queue = newQueue();
    // The call times out after half of the TTL, and the client gives up the connection after two thirds. The
    // test continues between these two times.
    const session = await bench.session(proxy.endpoint, 10_000);
    await session.enqueue(newSpec(queue));
    const spec = newSpec(queue);
    proxy.toServer.hold();
    expect(await outcome(session.enqueue(spec))).to.equal('UNAVAILABLE');
    const removed = session.remove(queue, spec.id);
    await proxy.heal();
    expect(await removed).to.equal(true);
    expect(await asOperator(server, (zk) => zk.children(`/${queue}`))).to.have.length(1);
  });
});
