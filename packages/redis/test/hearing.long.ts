import { startProxy } from '@queuelock/harness/faults';
import { admitted, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

describe('a connection to Redis that receives no more messages and is not broken', () => {
  const clients = new Clients();

  it('is detected between two heartbeats', async () => {
    const proxy = await startProxy(clients.server.endpoint);
    const deaf = clients.connect({ url: `redis://${proxy.endpoint}` });
    const holder = await clients.session();
    const held = newSpec();
    await holder.enqueue(held);
    // The next heartbeat comes after the end of the test, so it cannot be what detects the silent connection.
    const waiter = await clients.session(deaf, 600_000);
    const turn = admitted(await waiter.enqueue(newSpec()));
    const trap = proxy.loseNextReply((chunk) => chunk.includes('queue:other'));
    const looking = deaf.observe('other').subscribe({ error: () => undefined });
    await trap.lost;
    await holder.remove('jobs', held.id);
    await turn;
    looking.unsubscribe();
    await waiter.close();
    await proxy.stop();
  }).timeout(60_000);
});
