// Runs a bridge over 2,000 queues that change constantly, and measures the CPU time and memory of its
// process.
import { createLockClient } from '@queuelock/core';
import { createMemoryServer, memory } from '@queuelock/memory';
import { createBridge, serve } from '../../src/index.ts';

const [queues = '0'] = process.argv.slice(2);
// Time in milliseconds between two groups of changes to the queues. The backend for etcd also merges the
// changes of 200 ms in its list of queues.
const CHANGES_EVERY_MS = 200;
const CHANGES = 20;

const server = createMemoryServer();
const client = createLockClient(memory({ server }), { owner: 'bridge' });
const program = createLockClient(memory({ server }), { owner: 'program' });
const names = Array.from({ length: Number(queues) }, (_, n) => `queue-${String(n).padStart(4, '0')}`);
for (const name of names) await program.acquire(name, { metadata: { 'held for': 'the whole test' } });

const bridge = createBridge({ client, authorize: () => true });
const served = await serve({ handle: bridge.handle });
let highest = 0;
const measure = (): void => {
  highest = Math.max(highest, process.memoryUsage().rss);
};
setInterval(measure, 100);

let next = 0;
setInterval(() => {
  for (let change = 0; change < CHANGES; change += 1) {
    next = (next + 7) % names.length;
    const waiter = program.claim(names[next] ?? '', { holding: [] }).subscribe();
    setTimeout(() => waiter.unsubscribe(), 2 * CHANGES_EVERY_MS);
  }
}, CHANGES_EVERY_MS);

measure();
process.send?.({ url: `${served.url}/queuelock`, rss: highest });
process.on('message', () => {
  measure();
  const { user, system } = process.cpuUsage();
  process.send?.({ rss: highest, cpuMs: (user + system) / 1_000 });
});
process.on('disconnect', () => process.exit());
