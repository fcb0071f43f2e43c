import { systemClock } from '@queuelock/core/backend';
import { ConnectionPacer } from '../../../zookeeper/src/base/connection-pacer.ts';
import { WireDriver } from '../../../zookeeper/src/wire/driver.ts';
import type { RawStore } from './contender.ts';
import { endpointOf } from './protocol.ts';
import { SESSION_MS } from './session.ts';

/** Raw ZooKeeper calls over Node's sockets, with the same code as queuelock's transport `native`. */
export async function rawWire(): Promise<RawStore> {
  const clock = systemClock();
  const endpoint = endpointOf('ZK');
  const driver = new WireDriver({
    addresses: () => [endpoint],
    onFailure: () => undefined,
    auth: undefined,
    ttlMs: SESSION_MS,
    pacer: new ConnectionPacer(clock),
    clock,
  });
  driver.ended$.subscribe({ error: () => undefined });
  await driver.sync();
  const create = (key: string): Promise<unknown> => driver.create(`/${key}`, '', 'ephemeral');
  const remove = (key: string): Promise<unknown> => driver.delete(`/${key}`);
  const watchDeletion = async (key: string, gone: () => void): Promise<void> => {
    const next = (): void => {
      changes.unsubscribe();
      gone();
    };
    const changes = driver.changes(`/${key}`).subscribe({ next, error: () => undefined });
    await driver.stat(`/${key}`, { watch: true });
  };
  const createNumbered = async (key: string): Promise<string> =>
    (await driver.create(`/${key}-`, '', 'ephemeral-sequential')).path ?? '';
  return {
    create,
    remove,
    watchDeletion,
    calls: {
      create: createNumbered,
      createdelete: async (key) => driver.delete(await createNumbered(key)),
      event: async (key) => {
        await create(key);
        const gone = new Promise<void>((resolve) => void watchDeletion(key, resolve));
        await Promise.all([remove(key), gone]);
      },
    },
    close: () => driver.close(),
  };
}
