// A process that holds one lock and reports its grant and its loss to the test. Command line: holder.ts
// MODULE BACKEND URL QUEUE TTL_MS
import { createLockClient } from '@queuelock/core';
import type { Backend } from '@queuelock/core/backend';

const [module = '', name = '', url, queue = '', ttlMs] = process.argv.slice(2);
const backends = (await import(module)) as Record<string, (options: object) => Backend>;
const locks = createLockClient(backends[name]!({ url }), { ttlMs: Number(ttlMs) });
const ownership = await locks.acquire(queue);
ownership.signal.addEventListener('abort', () => console.log(JSON.stringify({ ev: 'lost' })), { once: true });
console.log(JSON.stringify({ ev: 'held' }));
