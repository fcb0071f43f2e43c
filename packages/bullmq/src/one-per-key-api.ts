import type { Ownership, QueueLockError } from '@queuelock/core';

/** The part of a job of BullMQ that `onePerKey` uses. */
export interface KeyedJob {
  /** Moves the job to the delayed ones until a time, in milliseconds since 1970. */
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

/**
 * The work of a job, called while the job's key is locked.
 * @param job of BullMQ
 * @param ownership of the lock. Send its fencing `token` with every write that a late job must not do
 * @param stop aborts on the loss of the lock, when the worker cancels the job, and when the lock client closes. Pass it to everything that the
 *   work awaits. Work that stops half-way must throw, for instance by `stop.throwIfAborted()`
 */
export type KeyedWork<J, R> = (job: J, ownership: Ownership, stop: AbortSignal) => R | PromiseLike<R>;

/** A processor for a `Worker` of BullMQ. */
export type KeyedProcessor<J, R> = (job: J, token?: string, signal?: AbortSignal) => Promise<R>;

/** Settings of `onePerKey`. */
export interface OnePerKeyOptions<J> {
  /**
   * Returns the name of the lock of a job. Jobs with the same name run one at a time, in all workers of all queues that use the same store. It
   * must depend on the job alone.
   */
  readonly key: (job: J) => string;
  /**
   * How long a job is delayed while another one has its key, in milliseconds. Each delay is up to 20 % shorter, so that delayed jobs of one key
   * spread out. Default 1,000.
   */
  readonly delayMs?: number;
  /**
   * How long a job waits for its key before it is delayed, in milliseconds. It occupies one of the worker's `concurrency` meanwhile. Default 0:
   * not at all.
   */
  readonly waitMs?: number;
  /**
   * Called when a job was delayed.
   * @param job that was delayed
   * @param reason `TIMEOUT` when another job has the key; any other code when the store of the locks failed
   */
  readonly onDelayed?: (job: J, reason: QueueLockError) => void;
}
