// A process that http2-driver.test.ts runs. It opens, uses and closes a client over HTTP/2, and prints the
// modules that it has loaded.
import { createRequire } from 'node:module';
import { etcd } from '@queuelock/etcd';
import { freshQueue, newSpec } from './clients.ts';

const [endpoint = '', by] = process.argv.slice(2);
const transport = by === 'socket' ? by : 'http2';
const { signal } = new AbortController();

const lost = etcd({ hosts: '127.0.0.1:1', transport });
const failure: unknown = await lost.open(4_000, signal).catch((error: unknown) => error);
if (!(failure instanceof Error) || !failure.message.includes('ECONNREFUSED'))
  throw new Error('a server responds there', { cause: failure });
await lost.close();

const backend = etcd({ hosts: endpoint, transport });
const spec = newSpec(freshQueue());
const watching = backend.observe(spec.queue).subscribe({ error: () => undefined });
const session = await backend.open(10_000, signal);
await session.enqueue(spec);
await session.renew(signal);
watching.unsubscribe();
await session.close();
await backend.close();

const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /etcd3|grpc-js/.test(file));
if (loaded.length > 0) throw new Error(`loaded ${loaded.join(', ')}`);
