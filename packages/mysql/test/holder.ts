// Holds a lock: holder.ts URL QUEUE TTL_MS. Says when it has it, and when it has lost it.
import { createLockClient } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';

const [url = '', queue = '', ttlMs] = process.argv.slice(2);
const locks = createLockClient(mysql({ url }), { ttlMs: Number(ttlMs) });
const ownership = await locks.acquire(queue);
ownership.signal.addEventListener('abort', () => {
  process.stdout.write('lost\n');
});
process.stdout.write('held\n');
