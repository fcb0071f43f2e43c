// A process that works under a lock: worker.ts <url> <name> <id> <ttlMs> <safetyMarginMs>. Timers,
// immediates, promises and a socket call its work continuously. Each call first checks whether the lock is
// held, and the history records the result.
import { writeSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { entryFields } from '@queuelock/cli/src/contend/event.ts';
import { createStamp } from '@queuelock/cli/src/stamp.ts';
import { createLockClient, type Ownership } from '@queuelock/core';
import type { WorkEvent } from './work-event.ts';

const [url, name = '', id = '', ttlMs, safetyMarginMs] = process.argv.slice(2);
const EVERY_MS = 10;
const stamp = createStamp();

/** All expressions by which a program can read whether the lock is held. */
const READS: readonly ((ownership: Ownership) => boolean)[] = [
  ({ held }) => held,
  ({ signal }) => !signal.aborted,
  ({ remainingMs }) => remainingMs > 0,
  ({ signal }) => {
    try {
      signal.throwIfAborted();
      return true;
    } catch {
      return false;
    }
  },
];

// Writes an event to stdout synchronously, unlike console.log, because it must be written before the test
// stops the process.
function say(event: Pick<WorkEvent, 'ev'> & Partial<WorkEvent>): void {
  writeSync(1, `${JSON.stringify({ t: stamp(), id, name, n: 1, ...event })}\n`);
}

function workUnder(ownership: Ownership): void {
  let reads = 0;
  const work = (by: string): void => {
    const t = stamp();
    const read = READS[(reads += 1) % READS.length]!;
    const held = read(ownership);
    say({ t, ev: held ? 'acted' : 'refrained', by, remainingMs: ownership.remainingMs });
  };
  ownership.signal.addEventListener('abort', () => say({ ev: 'lost', ...entryFields(ownership) }));
  setInterval(() => {
    work('timer');
    process.nextTick(() => work('tick'));
    queueMicrotask(() => work('microtask'));
    setImmediate(() => work('immediate'));
  }, EVERY_MS);
  // The test sends data even while this process is frozen, so that the socket's callback runs when the
  // process resumes.
  const server = createServer((socket) => socket.on('data', () => work('socket')));
  server.listen(0, '127.0.0.1', () => say({ ev: 'listening', port: (server.address() as AddressInfo).port }));
}

process.on('disconnect', () => process.exit());
const client = createLockClient(await backendFromUrl(url), {
  ttlMs: Number(ttlMs),
  safetyMarginMs: Number(safetyMarginMs),
  owner: id,
});
say({ ev: 'requesting' });
const ownership = await client.acquire(name);
say({ ev: 'enqueued', ...entryFields(ownership) });
say({ ev: 'acquired', ...entryFields(ownership), remainingMs: ownership.remainingMs });
workUnder(ownership);
