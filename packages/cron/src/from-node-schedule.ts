import type { TickJob } from './tick-job-api.ts';

/**
 * Returns the function to pass to a node-schedule job. The tick is the job's fire date, which is the
 * scheduled time. A run by `job.invoke(date)` needs the scheduled time of the tick as `date`, and rejects
 * with `INVALID_ARGUMENT` without it.
 * @example
 * schedule.scheduleJob({ rule: '0 3 * * *', tz: 'Europe/Berlin' }, fromNodeSchedule(report)).on('error', log);
 */
export function fromNodeSchedule(job: TickJob): (fireDate: Date) => Promise<void> {
  return (fireDate) => job.handle(fireDate);
}
