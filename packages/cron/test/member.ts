// Runs all jobs as one of several processes: member.ts <url> <ttlMs> <jobs> <seed>. With a seed its works take up to 0.3 s each; without
// one they last until it is ordered to go on.
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
// A first tick that is late by the time that cold code takes could come after the second one of others.
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
