// A process that exit.test.ts runs. It uses all parts of the backend once, with a server and without one, and
// closes everything. It must then exit by itself.
import { etcd } from '@queuelock/etcd';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { freshQueue, newSpec } from './clients.ts';

const [endpoint = ''] = process.argv.slice(2);
const nowhere = '127.0.0.1:1';
const { signal } = new AbortController();

const lost = etcd({ ...etcdTransport(), hosts: nowhere, requestTimeoutMs: 300 });
const failure = await lost.open(4_000, signal).catch((error: unknown) => error);
if ((failure as { code?: string }).code !== 'UNAVAILABLE')
  throw new Error('a server responds there', { cause: failure });
await lost.close();

const backend = etcd({ ...etcdTransport(), hosts: [endpoint, nowhere] });
const spec = newSpec(freshQueue());
const watching = backend.observe(spec.queue).subscribe({ error: () => undefined });
const session = await backend.open(10_000, signal);
await session.enqueue(spec);
await session.renew(signal);
const [one, two] = [newSpec(freshQueue()), newSpec(freshQueue(), { shared: true })];
await session.enqueueAll?.([one, two]);
await session.share?.(one.queue, one.id, '');
await session.remove(spec.queue, spec.id);
const following = backend.registers?.observe(spec.queue, 'life').subscribe({ error: () => undefined });
await backend.registers?.write(spec.queue, 'life', { text: 'over', was: undefined });
await session.abandon?.();
const resumed = await backend.resume?.(session.resumption ?? '', signal);
watching.unsubscribe();
following?.unsubscribe();
await resumed?.close();
await backend.close();
process.send?.('closed');
