import { Inject } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Ownership } from '@queuelock/core';
import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import {
  lastCronTick,
  oncePerTick,
  type CronTimeLike,
  type TickJob,
  type TickJobOptions,
} from '@queuelock/cron';
import { oncePer, type OncePerOptions } from '@queuelock/recipes';
import {
  replaceMethod,
  runtimeOf,
  type AnyMethod,
  type MethodCall,
  type MethodDecoratorOf,
} from './decorated-method.ts';
import { DEFAULT_CLIENT } from './tokens.ts';

/** Settings of `@OncePer`: those of `oncePer` and `oncePerTick`, and the name of the client. */
export interface OncePerTickOptions
  extends
    Pick<OncePerOptions, 'guarantee' | 'owner' | 'lateSlots'>,
    Pick<TickJobOptions, 'timeoutMs' | 'workTimeoutMs' | 'maxWaitingTicks' | 'onOutcome'> {
  /** Name of the client, as in `QueuelockModule.forRoot`. Default `default`. */
  readonly client?: string;
}

/** The metadata that `@Cron` of `@nestjs/schedule` writes to a method. */
interface CronOptions {
  readonly cronTime: unknown;
  readonly timeZone?: string;
  readonly utcOffset?: number | string;
}

const CRON_OPTIONS = 'SCHEDULE_CRON_OPTIONS';
const SCHEDULER = Symbol.for('queuelock.scheduler');

/**
 * Runs each tick of a method with `@Cron` in only one of all processes. The order of this decorator and
 * `@Cron` does not matter. The method gets three arguments: the tick, which is the scheduled time; the
 * ownership of the lock; and the signal `stop`. The shutdown aborts `stop` and waits for the end of the
 * method. If other code calls the method, the call counts for the last tick before it.
 *
 * If the method throws, the call rejects, and `@nestjs/schedule` logs the error.
 *
 * What `oncePerTick` does not promise is not promised here either. For instance, a tick is lost when its
 * process dies, unless `guarantee` is `at-least-once`.
 * @param name the name of the job. No other job may have it
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the decorated member is not a method. Each call rejects with
 *   it if the method has no `@Cron`
 * @example
 * \@OncePer('daily-report')
 * \@Cron('0 3 * * *', { timeZone: 'Europe/Berlin' })
 * async report(tick: Date, { token }: Ownership, stop: AbortSignal): Promise<void> {}
 */
export function OncePer(
  name: string,
  options: OncePerTickOptions = {},
): MethodDecoratorOf<(tick: Date, ownership: Ownership, stop: AbortSignal) => Promise<unknown>> {
  const jobs = new WeakMap<object, TickJob>();
  return (target, key, descriptor) => {
    replaceMethod('@OncePer', [target, key, descriptor], async (call, method) => {
      const runtime = runtimeOf(call);
      const tick = await tickOf(call, method);
      if (!tick && runtime.stop.aborted) return;
      if (!tick) throw withoutJob(call.label);
      const job = jobs.get(call.instance) ?? jobOf(name, options, call);
      jobs.set(call.instance, job);
      await runtime.inBackground(() => job.handle(tick));
    });
    Inject(SchedulerRegistry)(target, SCHEDULER);
  };
}

function jobOf(name: string, options: OncePerTickOptions, call: MethodCall): TickJob {
  const { client = DEFAULT_CLIENT, guarantee, owner, lateSlots, ...limits } = options;
  const runtime = runtimeOf(call);
  const once = oncePer(runtime.client(client), name, {
    ...(guarantee && { guarantee }),
    ...(owner !== undefined && { owner }),
    ...(lateSlots !== undefined && { lateSlots }),
  });
  return oncePerTick(once, (...args) => call.proceed(...args), { ...limits, signal: runtime.stop });
}

/**
 * Returns the last scheduled time of a method with `@Cron`. Returns `undefined` when no job with the same
 * cron pattern is registered: before the schedule has begun, or after it has ended.
 */
async function tickOf({ instance, label }: MethodCall, method: AnyMethod): Promise<Date | undefined> {
  const options = Reflect.getMetadata(CRON_OPTIONS, method) as CronOptions | undefined;
  if (!options) throw invalidArgument(label, '@OncePer', 'is used beside @Cron of @nestjs/schedule');
  if (options.cronTime instanceof Date) return options.cronTime;
  const registry = Reflect.get(instance, SCHEDULER) as SchedulerRegistry;
  const at = new Date();
  const known = cronTimeLike(registry, options);
  if (known) return lastCronTick(known, at);
  // If a tick is due at the moment when its job starts, the job fires before `@nestjs/schedule` registers it.
  // Both happen in the same iteration of the event loop, so awaiting a promise lets the registration happen
  // first.
  await Promise.resolve();
  const registered = cronTimeLike(registry, options);
  return registered && lastCronTick(registered, at);
}

/**
 * Returns the schedule of any registered job that has the cron pattern and the time zone of `options`. All
 * jobs with the same pattern and time zone have the same ticks.
 */
function cronTimeLike(registry: SchedulerRegistry, options: CronOptions): CronTimeLike | undefined {
  const times: readonly CronTimeLike[] = [...registry.getCronJobs().values()].map((job) => job.cronTime);
  return times.find((one) => one.source === options.cronTime && zoneOf(one) === zoneOf(options));
}

function withoutJob(label: string): QueueLockError {
  const text = `${label} has no job in the SchedulerRegistry: import ScheduleModule.forRoot()`;
  return new QueueLockError('INVALID_ARGUMENT', text);
}

/** Returns the time zone of the schedule: that of the machine if the schedule names none. */
function zoneOf({ timeZone, utcOffset }: Pick<CronOptions, 'timeZone' | 'utcOffset'>): string | number {
  return timeZone ?? utcOffset ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export type { MethodDecoratorOf } from './decorated-method.ts';
