// Schedules the given jobs, as one of several processes that schedule the same jobs. Usage: member.ts <url>
// <ttlMs> <jobs> <seed>. With a seed, the work of a tick takes up to 0.3 s. Without a seed, the work lasts
// until the test sends the command `go`.
import { createLockClient, isQueueLockError } from '@queuelock/core';
import { fromUrl as etcdFromUrl } from '@queuelock/etcd';
import { fromUrl as redisFromUrl } from '@queuelock/redis';
import { setTimeout as pass } from 'node:timers/promises';
import { chanceOf } from '@queuelock/harness/chance';
import { PATTERN, type MemberEvent, type MemberOrder } from './members.ts';
import { scheduleJobs } from './scheduled-jobs.ts';
import { oncePer } from '@queuelock/recipes';

const LONGEST_WORK_MS = 300;

const [url = '', ttlMs, jobs = '', seed = ''] = process.argv.slice(2);
const say = (event: MemberEvent): void => console.log(JSON.stringify(event));

const backend = url.startsWith('redis:') ? redisFromUrl(url) : etcdFromUrl(url);
const client = createLockClient(backend, { ttlMs: Number(ttlMs) });
const chance = chanceOf(Number(seed));

process.on('disconnect', () => process.exit());
// Runs `oncePer` once before the jobs start, because the first run of code is slow. Otherwise the first tick
// of this process could start after the second tick of the other processes.
const warmUp = oncePer(client, `warm-up of ${process.pid}`);
const isWarm = (): Promise<boolean> =>
  warmUp
    .run(1, () => undefined)
    .then(
      () => true,
      (error: unknown) => {
        if (isQueueLockError(error) && error.retryable) return false;
        throw error;
      },
    );
while (!(await isWarm()));
const order = (kind: keyof MemberOrder): Promise<void> =>
  new Promise((resolve) => {
    process.on('message', (message: MemberOrder) => {
      if (message[kind]) resolve();
    });
  });
const goOn = order('go');
void order('start').then(() => {
  scheduleJobs(client, {
    names: jobs.split(';'),
    pattern: PATTERN,
    work: () => (seed === '' ? goOn : pass(LONGEST_WORK_MS * chance())),
    tell: say,
  });
});
say({ ev: 'ready' });
