// Runs a BullMQ worker with `onePerKey` as a process of its own: worker.ts <redis url> <queue> <seed>. The
// tests run several such processes.
import { createLockClient } from '@queuelock/core';
import { chanceOf } from '@queuelock/harness/chance';
import { redis } from '@queuelock/redis';
import { Worker, type Job } from 'bullmq';
import { setTimeout as pass } from 'node:timers/promises';
import { onePerKey } from '../src/index.ts';
import type { KeyData, WorkerEvent } from './workers.ts';

const LONGEST_WORK_MS = 120;

const [url = '', queue = '', seed = ''] = process.argv.slice(2);
const say = (event: WorkerEvent): void => console.log(JSON.stringify(event));
/** The monotonic clock of the machine, which all processes share, in milliseconds. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const chance = chanceOf(Number(seed));

const locks = createLockClient(redis({ url }), { ttlMs: 1_000 });
const processor = onePerKey(
  locks,
  {
    key: (job: Job<KeyData>) => job.data.key,
    delayMs: 50,
    onDelayed: ({ id = '' }) => say({ ev: 'delayed', job: id }),
  },
  async ({ id = '', data: { key } }, { token }, stop) => {
    say({ ev: 'start', job: id, key, token: String(token), at: now() });
    await pass(LONGEST_WORK_MS * chance());
    // Reports the end of the work even when the signal `stop` has ended it early.
    say({ ev: 'end', job: id, at: now() });
    stop.throwIfAborted();
  },
);
const { hostname, port } = new URL(url);
const worker = new Worker<KeyData>(queue, processor, {
  connection: { host: hostname, port: Number(port) },
  concurrency: 4,
  // BullMQ counts one stall of a job for each worker that is killed while it runs the job. So the largest
  // permitted number of stalls must be higher than the number of kills.
  maxStalledCount: 1_000,
  lockDuration: 4_000,
  stalledInterval: 500,
});
// BullMQ emits `error` for jobs whose BullMQ lock it could not renew in time, and runs these jobs again.
worker.on('error', (error) => say({ ev: 'error', text: String(error) }));
process.on('disconnect', () => process.exit());
await worker.waitUntilReady();
say({ ev: 'ready' });
