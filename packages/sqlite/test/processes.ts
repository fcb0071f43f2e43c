// A process that the tests of deaths use: processes.ts FILE; holds `jobs` and does as it is told.
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
