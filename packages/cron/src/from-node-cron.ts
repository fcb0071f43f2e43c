import type { TickJob } from './tick-job-api.ts';

/** The part of node-cron's task context that this package uses. */
export interface NodeCronContext {
  /** The scheduled time of the task's run. For a run by `task.execute()`, it is the moment of the call. */
  readonly date: Date;
}

/**
 * Returns the function to pass to a node-cron task. The tick is the scheduled time, whatever `maxRandomDelay`
 * adds. A run by `task.execute()` is a separate tick at the moment of the call.
 *
 * Do not set the task option `distributed`: it is for tasks with the run coordinator that `runCoordinator`
 * returns.
 * @example
 * cron.schedule('0 3 * * *', fromNodeCron(report), { timezone: 'Europe/Berlin' });
 */
export function fromNodeCron(job: TickJob): (context: NodeCronContext) => Promise<void> {
  return (context) => job.handle(context.date);
}
