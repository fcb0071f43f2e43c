import { startProxy } from '@queuelock/harness/faults';
import { admitted, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

describe('a subscribed connection to Redis that receives nothing, without an error', () => {
  const clients = new Clients();

  it('is detected between two heartbeats', async () => {
    const proxy = await startProxy(clients.server.endpoint);
    const deaf = clients.connect({ url: `redis://${proxy.endpoint}` });
    const holder = await clients.session();
    const held = newSpec();
    await holder.enqueue(held);
    // With a TTL of 10 minutes, the next heartbeat would come after the end of the test. So it is not the
    // heartbeat that detects the silent connection.
    const waiter = await clients.session(deaf, 600_000);
    const turn = admitted(await waiter.enqueue(newSpec()));
    const trap = proxy.loseNextReply((chunk) => chunk.includes('queue:other'));
    const observeOptions = deaf.observe('other').subscribe({ error: () => undefined });
    await trap.lost;
    await holder.remove('jobs', held.id);
    await turn;
    observeOptions.unsubscribe();
    await waiter.close();
    await proxy.stop();
  }).timeout(60_000);
});
