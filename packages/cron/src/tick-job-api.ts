import type { Ownership } from '@queuelock/core';
import type { SlotOptions, SlotOutcome } from '@queuelock/recipes';

/** Settings of a job that runs once per tick, such as callbacks for its outcomes and errors. */
export interface TickJobOptions<T = unknown> extends SlotOptions {
  /**
   * How many ticks may wait in this process until a process is chosen for their work. Ticks wait while the
   * work of an earlier tick runs, and during an outage of the store. A further tick is rejected with
   * `QUEUE_FULL`. From 1 to 10,000. Default: 16.
   */
  readonly maxWaitingTicks?: number;
  /**
   * Called with the outcome of each tick: this process did the work of the tick, or another process did it.
   */
  readonly onOutcome?: (outcome: SlotOutcome<T>, tick: Date) => void;
  /**
   * Called with the error of a tick: what the work threw, or why no process could be chosen for it. Without
   * `onError` the scheduler gets the error, and what follows depends on the library: `cron` and `node-cron`
   * log it, `croner` without `catch` and `node-schedule` without a listener for `error` leave an unhandled
   * rejection, which ends the process.
   */
  readonly onError?: (error: unknown, tick: Date) => void;
}

/**
 * The work of a tick.
 * @param tick the scheduled time, the same on all processes
 * @param ownership the hold under which the work is done; its `token` rejects late writes of a process that
 * was paused
 * @param stop aborts when the hold is lost, or the `signal` of the job aborts. Work that stops before it is
 * complete must throw
 */
export type TickWork<T> = (tick: Date, ownership: Ownership, stop: AbortSignal) => T | PromiseLike<T>;

/** A job that is run once per tick by one of all processes; made by `oncePerTick`. */
export interface TickJob<T = unknown> {
  readonly name: string;
  /**
   * Does the work of the tick, unless another process does it. Use it in tests, and with schedulers for which
   * this package has no wrapper.
   * @param tick the scheduled time, never the present time: all processes must give the same
   * @returns the outcome of the tick, as `OncePer.run` does
   * @throws the error of the work, and the errors of `OncePer.run`
   * @throws {QueueLockError} `QUEUE_FULL` when `maxWaitingTicks` ticks wait in this process
   */
  run(tick: Date): Promise<SlotOutcome<T>>;
  /**
   * Runs the tick as `run` does, for a callback of a scheduler: passes the outcome to the option `onOutcome`
   * and an error to `onError`. Also resolves when the abort of the job's `signal` ended the tick.
   * @throws the error with which `run` rejects, if there is no `onError`
   */
  handle(tick: Date): Promise<void>;
}
