import { invalidArgument } from '@queuelock/core/backend';
import type { TickJob } from './tick-job-api.ts';

/** The methods of a job of the npm package croner that this package calls. */
export interface CronerJobLike {
  readonly options: { readonly interval?: number };
  /** Returns when the job fired last, or `null` if it has not fired. */
  currentRun(): Date | null;
  /** Returns the last `n` scheduled times before `reference`, the latest first. */
  previousRuns(n: number, reference?: Date): Date[];
}

/**
 * Returns the function to pass to a croner job. The tick is the last scheduled time before the job fired; a
 * run by `job.trigger()` counts for that tick too. So such a manual run does nothing if the tick is already
 * done.
 *
 * The function rejects with `INVALID_ARGUMENT` for a job with `interval`: its times count from the start of
 * the process, so no two processes share a tick.
 * @example
 * new Cron('0 3 * * *', { timezone: 'Europe/Berlin', catch: true }, fromCroner(report));
 */
export function fromCroner(job: TickJob): (self: CronerJobLike) => Promise<void> {
  return async (self) => {
    await job.handle(tickOf(self));
  };
}

function tickOf(self: CronerJobLike): Date {
  const { interval } = self.options;
  if (interval !== undefined && interval > 1)
    throw invalidArgument(
      'interval',
      interval,
      'is not used with once per tick: its times begin with each process',
    );
  const fired = self.currentRun();
  // `previousRuns` returns only times before the given one. So the given time is 1 ms after the moment when
  // the job fired.
  const [tick] = fired ? self.previousRuns(1, new Date(fired.getTime() + 1)) : [];
  if (!tick) throw invalidArgument('the job of croner', fired, 'has fired at or after a scheduled time');
  return tick;
}
