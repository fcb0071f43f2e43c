import { invalidArgument } from '@queuelock/core/backend';
import { lastTickUntil } from './last-tick.ts';
import type { TickJob } from './tick-job-api.ts';

/** What is read of a `CronJob` of cron. */
export interface CronJobLike {
  readonly cronTime: CronTimeLike;
  /** When the job fired last. */
  lastDate(): Date | null;
}

/** What is read of the schedule of a `CronJob`. */
export interface CronTimeLike {
  /** The pattern, or the only date. */
  readonly source: unknown;
  /** Whether the source is one date. */
  readonly realDate: boolean;
  readonly timeZone?: string;
  /** In minutes. */
  readonly utcOffset?: number;
  /** The first scheduled time after the second of a moment. */
  getNextDateFrom(start: Date, timeZone?: string): MomentLike;
}

/** What is read of a moment of a `CronJob`. */
export interface MomentLike {
  /** In Unix milliseconds. */
  toMillis(): number;
}

/**
 * Returns the `onTick` of a `CronJob`. The tick is the last scheduled time before the job fired; a run by `job.fireOnTick()` or `runOnInit`
 * counts for that tick too, so it does nothing where the tick is done.
 *
 * It rejects with `INVALID_ARGUMENT` for a job with a `context` of its own, since the times are read from `this`, and for a job of one date,
 * which needs no scheduler: call `job.run(date)`.
 * @example
 * CronJob.from({ cronTime: '0 3 * * *', timeZone: 'Europe/Berlin', onTick: fromCron(report), start: true });
 */
export function fromCron(job: TickJob): (this: unknown) => Promise<void> {
  return async function (this: unknown) {
    if (!isCronJob(this))
      throw invalidArgument('this of onTick', this, 'is the CronJob: leave out its context');
    await job.handle(tickOf(this));
  };
}

function tickOf(job: CronJobLike): Date {
  refuseOneDate(job.cronTime);
  const fired = job.lastDate();
  if (!fired) throw invalidArgument('the CronJob', fired, 'has fired at or after a scheduled time');
  return lastCronTick(job.cronTime, fired);
}

function refuseOneDate({ realDate, source }: CronTimeLike): void {
  if (realDate) throw invalidArgument('cronTime', source, 'is a pattern, not one date');
}

/**
 * Returns the last scheduled time of a schedule of cron at or before a moment. For code that has the schedule, but not the job that fired.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a schedule of one date, or without a tick in the 17 years before
 */
export function lastCronTick(cronTime: CronTimeLike, at: Date): Date {
  refuseOneDate(cronTime);
  const zone = zoneOf(cronTime);
  const next = (after: number): number => cronTime.getNextDateFrom(new Date(after), zone).toMillis();
  const tick = lastTickUntil(at.getTime(), next);
  if (tick === undefined) throw invalidArgument('at', at, 'is at or after a scheduled time');
  return new Date(tick);
}

/** As cron itself names the zone of an offset. */
function zoneOf({ timeZone, utcOffset }: CronTimeLike): string {
  if (utcOffset === undefined) return timeZone ?? 'UTC';
  const minutes = Math.abs(utcOffset);
  const [hours, rest] = [Math.trunc(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${utcOffset < 0 ? '-' : '+'}${hours}:${rest}`;
}

function isCronJob(value: unknown): value is CronJobLike {
  return typeof value === 'object' && value !== null && 'cronTime' in value && 'lastDate' in value;
}
