import type { LockClient } from '@queuelock/core';
import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { oncePer, type OncePerOptions } from '@queuelock/recipes';
import { oncePerTick } from './once-per-tick.ts';
import type { TickJob, TickJobOptions } from './tick-job-api.ts';

/** Decides which process runs a tick. Implements node-cron's interface of the same name. */
export interface RunCoordinator {
  /**
   * Resolves with whether this process runs the tick.
   * @param key name of the task, a colon, and the scheduled time in ISO format
   */
  shouldRun(key: string): Promise<boolean>;
}

/** Settings of a run coordinator for node-cron, such as the owner and the prefix of its lock names. */
export interface RunCoordinatorOptions
  extends
    Pick<OncePerOptions, 'owner' | 'lateSlots'>,
    Pick<TickJobOptions, 'signal' | 'timeoutMs' | 'maxWaitingTicks'> {
  /** Beginning of the lock names, before the names of the tasks. Default: `cron/`. */
  readonly prefix?: string;
}

const OPTIONS: KnownOptions<RunCoordinatorOptions> = {
  owner: 'string',
  lateSlots: 'number',
  signal: 'any',
  timeoutMs: 'number',
  maxWaitingTicks: 'number',
  prefix: 'string',
};
const DEFAULT_PREFIX = 'cron/';
const KEY = /^(.+):(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/s;

/**
 * Returns a coordinator for the `distributed` tasks of node-cron: each tick is run by at most one of all
 * processes, and by one of them if any is alive when the tick fires. Existing tasks need no change, not even
 * background tasks, which node-cron runs in a child process.
 *
 * The coordinator records the tick before its run begins, and does not hold the lock during the run. So runs
 * of different ticks may overlap, and a tick whose process dies is not repeated. Where that matters use
 * `oncePerTick` with `fromNodeCron`. The task option `distributedLease` has no effect: records of ticks do
 * not expire.
 * The coordinator does not run a tick older than the latest one, unless `lateSlots` allows it.
 * @param options settings; all are optional
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 * @example
 * cron.setRunCoordinator(runCoordinator(locks));
 * cron.schedule('0 3 * * *', sendReport, { name: 'daily-report', distributed: true });
 */
export function runCoordinator(client: LockClient, options?: RunCoordinatorOptions): RunCoordinator {
  const checked = checkedOptions('options of runCoordinator', options, OPTIONS);
  const { prefix = DEFAULT_PREFIX, owner, lateSlots, ...rest } = checked;
  const of = { ...(owner !== undefined && { owner }), ...(lateSlots !== undefined && { lateSlots }) };
  const create = (task: string): TickJob =>
    oncePerTick(oncePer(client, `${prefix}${task}`, of), () => undefined, rest);
  // Creates a job that is never used, so that an invalid option is reported now and not at the first tick.
  create('any');
  const jobs = new Map<string, TickJob>();
  const jobOf = (task: string): TickJob => {
    const job = jobs.get(task) ?? create(task);
    jobs.set(task, job);
    return job;
  };
  return {
    async shouldRun(key) {
      const [, task, time] = KEY.exec(key) ?? [];
      if (task === undefined || time === undefined)
        throw invalidArgument('key', key, 'is the name of a task, a colon and a time in ISO format');
      const { outcome } = await jobOf(task).run(new Date(time));
      return outcome === 'ran';
    },
  };
}
