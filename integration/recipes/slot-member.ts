// Calls the job of a slot when the test sends a message: slot-member.ts <url> <name> <ttlMs> <guarantee>. The
// job runs until the test sends another message.
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { createLockClient, isQueueLockError } from '@queuelock/core';
import { oncePer, type OncePerOptions } from '@queuelock/recipes';
import type { SlotEvent, SlotOrder } from './slot-members.ts';

const [url, name = '', ttlMs, promise] = process.argv.slice(2);
const goings = new Map<number, () => void>();

function say(event: SlotEvent): void {
  console.log(JSON.stringify(event));
}

const client = createLockClient(await backendFromUrl(url), { ttlMs: Number(ttlMs) });
const once = oncePer(client, name, { guarantee: promise as NonNullable<OncePerOptions['guarantee']> });

async function callFor(slot: number): Promise<void> {
  const work = async (): Promise<void> => {
    const going = new Promise<void>((resolve) => goings.set(slot, resolve));
    say({ ev: 'begun', slot });
    await going;
    say({ ev: 'ended', slot });
  };
  try {
    const { outcome } = await once.run(slot, work);
    say({ ev: 'told', slot, outcome });
  } catch (error) {
    say({ ev: 'told', slot, outcome: isQueueLockError(error) ? error.code : String(error) });
  }
}

process.on('disconnect', () => process.exit());
process.on('message', ({ call, go }: SlotOrder) => {
  if (call !== undefined) void callFor(call);
  if (go !== undefined) goings.get(go)?.();
});
say({ ev: 'ready', slot: 0 });
