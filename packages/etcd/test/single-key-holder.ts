// A process that single-key-faults.long.ts runs. It holds a lock of queuelock, or of npm etcd3's own `Lock`,
// until it is killed.
import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { Etcd3 } from 'etcd3';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';

const [kind, endpoint = '', name = ''] = process.argv.slice(2);
process.on('disconnect', () => process.exit());

if (kind === 'old') {
  const client = new Etcd3({ hosts: endpoint });
  await client.lock(name).ttl(2).acquire();
} else {
  const backend = etcd({ ...etcdTransport(), hosts: endpoint, singleKey: (queue) => queue });
  await createLockClient(backend, { ttlMs: 2_000 }).acquire(name);
}
process.stdout.write(`${JSON.stringify({ ev: 'held' })}\n`);
