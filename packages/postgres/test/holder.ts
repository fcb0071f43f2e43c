// Acquires a lock that also takes an advisory lock: holder.ts URL QUEUE TTL_MS ADVISORY_KEY. Prints when it
// holds.
import { createLockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';

const [url = '', queue = '', ttlMs, key] = process.argv.slice(2);
const locks = createLockClient(postgres({ url, advisoryKey: () => Number(key) }), { ttlMs: Number(ttlMs) });
await locks.acquire(queue);
console.log(JSON.stringify({ ev: 'held' }));
