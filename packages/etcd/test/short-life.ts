// A process that exit.long.ts runs: it enqueues one entry, through the members that respond, and closes
// everything.
import { etcd } from '@queuelock/etcd';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { freshQueue, newSpec } from './clients.ts';

const backend = etcd({ ...etcdTransport(), hosts: process.argv.slice(2) });
const session = await backend.open(10_000, new AbortController().signal);
const spec = newSpec(freshQueue());
await session.enqueue(spec);
await session.remove(spec.queue, spec.id);
await session.close();
await backend.close();
process.send?.('closed');
