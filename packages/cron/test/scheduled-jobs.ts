import type { LockClient } from '@queuelock/core';
import { oncePer } from '@queuelock/recipes';
import { CronJob } from 'cron';
import { Cron } from 'croner';
import nodeCron from 'node-cron';
import nodeSchedule from 'node-schedule';
import {
  fromCron,
  fromCroner,
  fromNodeCron,
  fromNodeSchedule,
  oncePerTick,
  runCoordinator,
  type TickJob,
} from '../src/index.ts';

const GUARANTEES = ['at-most-once', 'at-least-once'] as const;

const SCHEDULERS = {
  croner: (pattern: string, job: TickJob) => new Cron(pattern, { catch: true }, fromCroner(job)),
  cron: (pattern: string, job: TickJob) =>
    CronJob.from({ cronTime: pattern, onTick: fromCron(job), start: true }),
  'node-cron': (pattern: string, job: TickJob) => nodeCron.schedule(pattern, fromNodeCron(job)),
  'node-schedule': (pattern: string, job: TickJob) =>
    nodeSchedule.scheduleJob(pattern, fromNodeSchedule(job)),
};
const COORDINATED = 'at-most-once, node-cron coordinator';

/** Names of the test jobs. Each guarantee is tested with each scheduler library, and at-most-once also with node-cron's `runCoordinator`. */
export const JOBS: readonly string[] = [
  ...GUARANTEES.flatMap((guarantee) => Object.keys(SCHEDULERS).map((library) => `${guarantee}, ${library}`)),
  COORDINATED,
];

/**
 * An event that a process prints about one tick of a job: the library called the job, its work began or
 * ended, or its outcome is known.
 */
export interface Reported {
  readonly ev: 'called' | 'begun' | 'ended' | 'reported';
  readonly job: string;
  /** The scheduled time of the tick, in ISO format. */
  readonly tick: string;
  /** The outcome of the tick, or its error. Only events with `ev: 'reported'` have it. */
  readonly outcome?: string;
  /** How many milliseconds late the library called the job. Only events with `ev: 'called'` have it. */
  readonly lateMs?: number;
}

interface Jobs {
  /** The names of the jobs to schedule, as listed in `JOBS`. */
  readonly names: readonly string[];
  readonly pattern: string;
  /** The work that every job does at each of its ticks. */
  readonly work: () => Promise<void>;
  readonly tell: (reported: Reported) => void;
}

/** Schedules the named test jobs with the real scheduler libraries. */
export function scheduleJobs(client: LockClient, jobs: Jobs): void {
  const { names, pattern, work, tell: report } = jobs;
  for (const guarantee of GUARANTEES)
    for (const [library, schedule] of Object.entries(SCHEDULERS)) {
      const name = `${guarantee}, ${library}`;
      if (!names.includes(name)) continue;
      const say = (ev: Reported['ev'], tick: Date, outcome?: string): void =>
        report({ ev, job: name, tick: tick.toISOString(), ...(outcome === undefined ? {} : { outcome }) });
      const watched = async (tick: Date): Promise<void> => {
        say('begun', tick);
        await work();
        say('ended', tick);
      };
      const job = oncePerTick(oncePer(client, name, { guarantee }), watched, {
        maxWaitingTicks: 100,
        onOutcome: ({ outcome }, tick) => say('reported', tick, outcome),
        onError: (error, tick) => say('reported', tick, String(error)),
      });
      schedule(pattern, {
        name,
        run: (tick) => job.run(tick),
        handle(tick) {
          report({ ev: 'called', job: name, tick: tick.toISOString(), lateMs: Date.now() - tick.getTime() });
          return job.handle(tick);
        },
      });
    }
  if (names.includes(COORDINATED)) scheduleCoordinated(client, jobs);
}

function scheduleCoordinated(client: LockClient, { pattern, work, tell }: Jobs): void {
  const coordinator = runCoordinator(client, { prefix: 'coordinated/', maxWaitingTicks: 100 });
  const say = (ev: Reported['ev'], tick: string, outcome?: string): void =>
    tell({ ev, job: COORDINATED, tick, ...(outcome === undefined ? {} : { outcome }) });
  const watched = {
    async shouldRun(key: string) {
      const tick = key.slice(key.indexOf(':') + 1);
      tell({ ev: 'called', job: COORDINATED, tick, lateMs: Date.now() - Date.parse(tick) });
      const response = await coordinator.shouldRun(key);
      say('reported', tick, response ? 'ran' : 'already-done');
      return response;
    },
  };
  const options = { name: 'all', distributed: true, runCoordinator: watched };
  nodeCron.schedule(
    pattern,
    async ({ date }) => {
      say('begun', date.toISOString());
      await work();
      say('ended', date.toISOString());
    },
    options,
  );
}
