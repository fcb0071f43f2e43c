import { invalidArgument } from '@queuelock/core/backend';
import type { TickJob } from './tick-job-api.ts';

/** What is read of a job of croner. */
export interface CronerJobLike {
  readonly options: { readonly interval?: number };
  /** When the job fired last. */
  currentRun(): Date | null;
  /** The scheduled times before a moment, the last one first. */
  previousRuns(n: number, reference?: Date): Date[];
}

/**
 * Returns the function of a croner job. The tick is the last scheduled time before the job fired; a run by `job.trigger()` counts for that
 * tick too, so it does nothing where the tick is done.
 *
 * It rejects with `INVALID_ARGUMENT` for a job with `interval`: its times begin with the process, so no two processes share a tick.
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
  // The reference itself is left out.
  const [tick] = fired ? self.previousRuns(1, new Date(fired.getTime() + 1)) : [];
  if (!tick) throw invalidArgument('the job of croner', fired, 'has fired at or after a scheduled time');
  return tick;
}
