import type { Ownership, QueueLockError } from '@queuelock/core';

/** The properties and methods of BullMQ's `Job` that `onePerKey` uses. */
export interface KeyedJob {
  /** Delays the job until `timestamp`, in milliseconds since 1970. */
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

/**
 * The work of a job, called while the job's key is locked.
 * @param job the job of BullMQ
 * @param ownership the hold of the job's lock. Send its fencing `token` with every write, so that the
 *   database or service that receives the writes can reject a late one
 * @param stop aborts on the loss of the lock, when the worker cancels the job, and when the lock client
 *   closes. Pass it to everything that the work awaits. If the work stops before it is complete, it must throw,
 *   for instance by `stop.throwIfAborted()`
 */
export type KeyedWork<J, R> = (job: J, ownership: Ownership, stop: AbortSignal) => R | PromiseLike<R>;

/** A processor for a `Worker` of BullMQ. */
export type KeyedProcessor<J, R> = (job: J, token?: string, signal?: AbortSignal) => Promise<R>;

/** Settings of `onePerKey`. */
export interface OnePerKeyOptions<J> {
  /**
   * Returns the name of the lock of a job. Jobs with the same name run one at a time, in all workers of all
   * queues that use the same store. The name must depend on the job alone.
   */
  readonly key: (job: J) => string;
  /**
   * How long a job is delayed when another job holds the lock of its key, in milliseconds. Each delay is this
   * time less a random part of up to 20 %, so that delayed jobs of one key spread out. Default 1,000.
   */
  readonly delayMs?: number;
  /**
   * How long a job waits for the lock of its key before it is delayed, in milliseconds. A waiting job counts
   * towards the worker's `concurrency`. Default 0: the job does not wait.
   */
  readonly waitMs?: number;
  /**
   * Called when a job was delayed.
   * @param job the job that was delayed
   * @param reason `TIMEOUT` when another job holds the lock of the key; any other code when the store of the
   * locks failed
   */
  readonly onDelayed?: (job: J, reason: QueueLockError) => void;
}
