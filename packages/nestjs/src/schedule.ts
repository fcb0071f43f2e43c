import { Inject } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Ownership } from '@queuelock/core';
import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import { lastCronTick, oncePerTick, type CronTimeLike, type TickJob, type TickJobOptions } from '@queuelock/cron';
import { oncePer, type OncePerOptions } from '@queuelock/recipes';
import { replaceMethod, runtimeOf, type AnyMethod, type MethodCall } from './decorated-method.ts';
import { DEFAULT_CLIENT } from './tokens.ts';

/** Settings of `@OncePer`: those of `oncePer` and `oncePerTick`, and which client takes the lock. */
export interface OncePerTickOptions
  extends
    Pick<OncePerOptions, 'guarantee' | 'owner' | 'lateSlots'>,
    Pick<TickJobOptions<unknown>, 'timeoutMs' | 'workTimeoutMs' | 'maxWaitingTicks' | 'onOutcome'> {
  /** Name of the client, as in `QueuelockModule.forRoot`. Default `default`. */
  readonly client?: string;
}

/** What `@Cron` of `@nestjs/schedule` writes to a method. */
interface CronOptions {
  readonly cronTime: unknown;
  readonly timeZone?: string;
  readonly utcOffset?: number | string;
}

const CRON_OPTIONS = 'SCHEDULE_CRON_OPTIONS';
const SCHEDULER = Symbol.for('queuelock.scheduler');

/**
 * Does each tick of a method with `@Cron` in one of all processes. The order of the two decorators does not matter. The method gets the tick,
 * which is the scheduled time, and not the time of the timer; the ownership of the hold; and `stop`. The shutdown stops the work and waits for it.
 * A call of the method by other code counts for the last tick before it.
 *
 * An error of the method rejects, and `@nestjs/schedule` logs it.
 *
 * Not promised: as `oncePerTick`. A tick is lost when its process dies, unless `guarantee` is `at-least-once`.
 * @param name of the job; no other job has it
 * @throws {QueueLockError} `INVALID_ARGUMENT` where it does not decorate a method; at each call of a method without `@Cron`
 * @example
 * \@OncePer('daily-report')
 * \@Cron('0 3 * * *', { timeZone: 'Europe/Berlin' })
 * async report(tick: Date, { token }: Ownership, stop: AbortSignal): Promise<void> {}
 */
export function OncePer(
  name: string,
  options: OncePerTickOptions = {},
): <Method extends (tick: Date, ownership: Ownership, stop: AbortSignal) => Promise<unknown>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void {
  const jobs = new WeakMap<object, TickJob<unknown>>();
  return (target, key, descriptor) => {
    replaceMethod('@OncePer', [target, key, descriptor], (call, method) => {
      const tick = tickOf(call, method);
      const runtime = runtimeOf(call);
      const job = jobs.get(call.instance) ?? jobOf(name, options, call);
      jobs.set(call.instance, job);
      return runtime.inBackground(() => job.handle(tick));
    });
    Inject(SchedulerRegistry)(target, SCHEDULER);
  };
}

function jobOf(name: string, options: OncePerTickOptions, call: MethodCall): TickJob<unknown> {
  const { client = DEFAULT_CLIENT, guarantee, owner, lateSlots, ...limits } = options;
  const runtime = runtimeOf(call);
  const once = oncePer(runtime.client(client), name, {
    ...(guarantee && { guarantee }),
    ...(owner !== undefined && { owner }),
    ...(lateSlots !== undefined && { lateSlots }),
  });
  return oncePerTick(once, (...args) => call.proceed(...args), { ...limits, signal: runtime.stop });
}

/** The schedule of any job with the same pattern has the same ticks. */
function tickOf({ instance, label }: MethodCall, method: AnyMethod): Date {
  const options = Reflect.getMetadata(CRON_OPTIONS, method) as CronOptions | undefined;
  if (!options) throw invalidArgument(label, '@OncePer', 'stands beside @Cron of @nestjs/schedule');
  const { cronTime } = options;
  if (cronTime instanceof Date) return cronTime;
  const registry = Reflect.get(instance, SCHEDULER) as SchedulerRegistry | undefined;
  const times: readonly CronTimeLike[] = [...(registry?.getCronJobs().values() ?? [])].map((job) => job.cronTime);
  const time = times.find((one) => one.source === cronTime && zoneOf(one) === zoneOf(options));
  if (time) return lastCronTick(time, new Date());
  throw new QueueLockError('INVALID_ARGUMENT', `${label} has no job in the SchedulerRegistry: import ScheduleModule.forRoot()`);
}

/** Without a zone, a schedule has that of the machine. */
function zoneOf({ timeZone, utcOffset }: Pick<CronOptions, 'timeZone' | 'utcOffset'>): string | number {
  return timeZone ?? utcOffset ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
