import { admitted, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

describe('an entry that an operator deletes from the tables on MySQL', () => {
  const clients = new Clients();

  it('leaves its permits to a waiter of the semaphore, while other entries hold', async () => {
    const session = await clients.session();
    const deleted = await session.enqueue(newSpec({ limit: 2 }));
    await session.enqueue(newSpec({ limit: 2 }));
    const granted = admitted(await session.enqueue(newSpec({ limit: 2 })));
    await clients.operator.evict(deleted.key);
    await granted;
  }).timeout(30_000);

  it('lets a reader behind it hold beside earlier readers', async () => {
    const session = await clients.session();
    await session.enqueue(newSpec({ queue: 'read', shared: true }));
    const { key } = await (await clients.session()).enqueue(newSpec({ queue: 'read' }));
    const granted = admitted(await session.enqueue(newSpec({ queue: 'read', shared: true })));
    await clients.operator.evict(key);
    await granted;
  }).timeout(30_000);
});
