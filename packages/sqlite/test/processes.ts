// A process that deaths.test.ts starts: processes.ts FILE [resumption]. It acquires the lock `jobs`, and then
// does what the messages of the test request. With `resumption`, it first exports its session.
import { createLockClient } from '@queuelock/core';
import { sqlite } from '@queuelock/sqlite';

const [file = '', wants = ''] = process.argv.slice(2);
const client = createLockClient(sqlite({ file }), { ttlMs: 60_000 });
if (wants === 'resumption') process.send?.({ resumption: await client.exportSession() });
await client.acquire('jobs');
process.send?.('holds');
process.on('message', (message) => {
  if (message === 'end') void client.close().then(() => process.disconnect());
});
