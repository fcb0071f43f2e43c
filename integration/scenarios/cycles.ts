// Takes and releases locks many times: cycles.ts <url> <rounds> <cycles in a round>. Prints what it uses after each round,
// closes its client when it is told to, and then has to end by itself.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { createLockClient } from '@queuelock/core';
import { CYCLE_NAMES, type CycleEvent } from './cycle-event.ts';

const [url, rounds, cycles] = process.argv.slice(2);
const collectGarbage = globalThis.gc!;
// Every so many cycles one is given up while it waits, or is on its way.
const GIVE_UP_EVERY = 20;

function say(event: CycleEvent): void {
  console.log(JSON.stringify(event));
}

/** Each lane has a lock of its own, but for the first, which two share. */
async function lane(name: string, count: number): Promise<void> {
  for (let cycle = 1; cycle <= count; cycle += 1) {
    if (cycle % GIVE_UP_EVERY === 0) await giveUp(name);
    else await (await client.acquire(name)).release();
  }
}

async function giveUp(name: string): Promise<void> {
  const giving = new AbortController();
  const acquired = client.acquire(name, { signal: giving.signal });
  setImmediate(() => giving.abort());
  await acquired.then(
    (ownership) => ownership.release(),
    (error: unknown) => {
      if (error !== giving.signal.reason) throw error;
    },
  );
}

/** In bytes, with what is outside of the heap: the least of several looks, since what was just let go takes some turns. */
async function heapInUse(): Promise<number> {
  const looks: number[] = [];
  for (let look = 0; look < 10; look += 1) {
    await nextTurn();
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    looks.push(heapUsed + external);
  }
  return Math.min(...looks);
}

const client = createLockClient(await backendFromUrl(url));
for (let round = 1; round <= Number(rounds); round += 1) {
  const lanes = [CYCLE_NAMES[0], ...CYCLE_NAMES];
  await Promise.all(lanes.map((name) => lane(name, Number(cycles) / lanes.length)));
  say({ ev: 'round', heapBytes: await heapInUse(), resources: process.getActiveResourcesInfo().length });
}
say({ ev: 'ran' });
await once(process, 'message');
process.disconnect();
await client.close();
say({ ev: 'closed' });
