// Holds a lock: holder.ts URL QUEUE TTL_MS [ADVISORY_KEY]. Says when it has it, and when it has lost it.
import { createLockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';

const [url = '', queue = '', ttlMs, key] = process.argv.slice(2);
const advisoryKey = (): number | undefined => (key === undefined ? undefined : Number(key));
const locks = createLockClient(postgres({ url, advisoryKey }), { ttlMs: Number(ttlMs) });
const ownership = await locks.acquire(queue);
ownership.signal.addEventListener('abort', () => {
  process.stdout.write('lost\n');
});
process.stdout.write('held\n');
