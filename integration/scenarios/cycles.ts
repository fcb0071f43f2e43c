// Takes and releases locks many times: cycles.ts <url> <rounds> <cycles in a round> <heap | instances>. After
// each round it prints the size of the heap, or the number of instances of certain classes. On a message from
// the test it closes its client, and then has to end by itself.
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { createLockClient } from '@queuelock/core';
import { Subscription } from 'rxjs';
import { CYCLE_NAMES, type CycleEvent, type Instances } from './cycle-event.ts';

type Class = Parameters<typeof queryObjects>[0];

const [url, rounds, cycles, what] = process.argv.slice(2);
const collectGarbage = globalThis.gc!;
// Every 20th claim of a lock is aborted, either while it waits or during its enqueue.
const GIVE_UP_EVERY = 20;
const REST_MS = 100;
const CLOSING_TURNS = 3;

function say(event: CycleEvent): void {
  console.log(JSON.stringify(event));
}

/**
 * Takes and releases a lock `count` times, one time after another, and aborts some of the claims. Several
 * calls run in parallel. Two of them use the same lock, and each of the others has its own.
 */
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

/**
 * Returns the bytes in use, external memory included. It is the lowest of several readings, since released
 * objects are freed only after some iterations of the event loop.
 */
async function heapInUse(): Promise<number> {
  const reads: number[] = [];
  for (let read = 0; read < 10; read += 1) {
    await nextTurn();
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    reads.push(heapUsed + external);
  }
  return Math.min(...reads);
}

/** Counts objects of a class and its subclasses, after garbage collection. */
function count(kind: Class): number {
  return queryObjects(kind, { format: 'count' });
}

/**
 * Resolves with the number of live objects when it does not change any more, so that pending work of the
 * released locks has ended.
 */
async function objectsAtRest(): Promise<number> {
  for (let before = 0; ;) {
    await pause(REST_MS);
    const objects = count(Object);
    if (objects === before) return objects;
    before = objects;
  }
}

async function instances(Ownership: Class): Promise<Instances> {
  const objects = await objectsAtRest();
  return {
    ownerships: count(Ownership),
    subscriptions: count(Subscription),
    signals: count(AbortSignal),
    promises: count(Promise),
    objects,
  };
}

const client = createLockClient(await backendFromUrl(url));
const first = await client.acquire('first');
const { constructor: Ownership } = first;
await first.release();
for (let round = 1; round <= Number(rounds); round += 1) {
  const lanes = [CYCLE_NAMES[0], ...CYCLE_NAMES];
  await Promise.all(lanes.map((name) => lane(name, Number(cycles) / lanes.length)));
  const memory =
    what === 'heap' ? { heapBytes: await heapInUse() } : { instances: await instances(Ownership) };
  say({ ev: 'round', ...memory, resources: process.getActiveResourcesInfo().length });
}
say({ ev: 'ran' });
await once(process, 'message');
process.disconnect();
await client.close();
// Waits for some iterations of the event loop, since Node destroys an HTTP/2 socket only after it has handled
// all data from that socket.
for (let turn = 0; turn < CLOSING_TURNS; turn += 1) await nextTurn();
say({ ev: 'closed', resources: process.getActiveResourcesInfo() });
