import { invalidArgument } from '@queuelock/core/backend';
import { lastTickUntil } from './last-tick.ts';
import type { TickJob } from './tick-job-api.ts';

/** The properties of a `CronJob` of the npm package cron that this package reads. */
export interface CronJobLike {
  readonly cronTime: CronTimeLike;
  /** Returns when the job fired last, or `null` if it has not fired. */
  lastDate(): Date | null;
}

/** The properties of a `CronJob`'s schedule that this package reads. */
export interface CronTimeLike {
  /** The cron pattern, or the date of a job that fires once. */
  readonly source: unknown;
  /** Whether the job has a single date instead of a cron pattern. */
  readonly realDate: boolean;
  readonly timeZone?: string;
  /** Offset of the schedule's time zone from UTC, in minutes. */
  readonly utcOffset?: number;
  /** Returns the first scheduled time after the second that contains the time `start`. */
  getNextDateFrom(start: Date, timeZone?: string): MomentLike;
}

/** A time that the npm package cron returns (an object of Luxon), with the method that this package calls. */
export interface MomentLike {
  /** Returns this time in milliseconds since 1970. */
  toMillis(): number;
}

/**
 * Returns the function to pass as `onTick` to a `CronJob`. The tick is the last scheduled time before the job
 * fired; a run by `job.fireOnTick()` or `runOnInit` counts for that tick too. So such a manual run does
 * nothing if the tick is already done.
 *
 * The returned function reads the scheduled time from its `this`, which must be the `CronJob`. So it rejects
 * with `INVALID_ARGUMENT` for a job with its own `context`. It also rejects for a job of a single date, which
 * needs no scheduler: call `job.run(date)`.
 * @example
 * CronJob.from({ cronTime: '0 3 * * *', timeZone: 'Europe/Berlin', onTick: fromCron(report), start: true });
 */
export function fromCron(job: TickJob): (this: unknown) => Promise<void> {
  return async function (this: unknown) {
    if (!isCronJob(this)) throw invalidArgument('this of onTick', this, 'is the CronJob: omit its context');
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
 * Returns the last scheduled time of a schedule of cron at or before `at`. Use it in code that has the
 * schedule, but not the job that fired.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a schedule of a single date, or without a tick in the 17
 * years before `at`
 */
export function lastCronTick(cronTime: CronTimeLike, at: Date): Date {
  refuseOneDate(cronTime);
  const zone = zoneOf(cronTime);
  const next = (after: number): number => cronTime.getNextDateFrom(new Date(after), zone).toMillis();
  const tick = lastTickUntil(at.getTime(), next);
  if (tick === undefined) throw invalidArgument('at', at, 'is at or after a scheduled time');
  return new Date(tick);
}

/** Formats a UTC offset as the npm package cron formats it. */
function zoneOf({ timeZone, utcOffset }: CronTimeLike): string {
  if (utcOffset === undefined) return timeZone ?? 'UTC';
  const minutes = Math.abs(utcOffset);
  const [hours, rest] = [Math.trunc(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${utcOffset < 0 ? '-' : '+'}${hours}:${rest}`;
}

function isCronJob(value: unknown): value is CronJobLike {
  return typeof value === 'object' && value !== null && 'cronTime' in value && 'lastDate' in value;
}
