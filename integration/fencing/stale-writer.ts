// A process that holds a lock, reports it, and writes on command with the token of that hold. It does not
// check whether it still holds.
import { writeSync } from 'node:fs';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { createLockClient } from '@queuelock/core';
import { resourceOf } from './writer.ts';
import type { StaleWriterEvent, StaleWriterSetup } from './stale-holder.ts';

const { url, name, ttlMs, kind, place } = JSON.parse(process.argv[2]!) as StaleWriterSetup;

function say(event: StaleWriterEvent): void {
  writeSync(1, `${JSON.stringify(event)}\n`);
}

process.on('disconnect', () => process.exit());
const client = createLockClient(await backendFromUrl(url), { ttlMs });
const ownership = await client.acquire(name);
const writer = await (await resourceOf(kind)).open(place, ownership);
say({
  ev: 'holds',
  token: String(ownership.token),
  fenced: await writer.fenced('first'),
  unfenced: await writer.unfenced('first'),
});
process.on('message', () => {
  // Starts both writes at once, before this process can notice that its TTL has passed.
  const writes = [writer.fenced('late'), writer.unfenced('late')] as const;
  void Promise.all(writes).then(([fenced, unfenced]) => say({ ev: 'wrote', fenced, unfenced }));
});
