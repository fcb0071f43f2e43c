import { sqlite } from '@queuelock/sqlite';
import { admitted, newSpec, signal } from '@queuelock/harness/specs';
import { Bench } from './bench.ts';

describe('an entry that an operator deletes from a SQLite file', function () {
  this.timeout(30_000);
  const bench = new Bench();
  const backend = sqlite({ file: bench.file });

  after(async () => {
    await backend.close();
    await bench.close();
  });

  it('frees its permits for a waiter of the semaphore', async () => {
    const session = await backend.open(60_000, signal);
    const deleted = await session.enqueue(newSpec({ limit: 2 }));
    await session.enqueue(newSpec({ limit: 2 }));
    const granted = admitted(await session.enqueue(newSpec({ limit: 2 })));
    await bench.evict(deleted.key);
    await granted;
    await session.close();
  });

  it('lets a reader behind it hold beside earlier readers', async () => {
    const session = await backend.open(60_000, signal);
    await session.enqueue(newSpec({ queue: 'read', shared: true }));
    const { key } = await session.enqueue(newSpec({ queue: 'read' }));
    const granted = admitted(await session.enqueue(newSpec({ queue: 'read', shared: true })));
    await bench.evict(key);
    await granted;
    await session.close();
  });
});
