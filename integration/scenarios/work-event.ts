import type { ContendEvent } from '@queuelock/cli/src/contend/event.ts';

/**
 * A line in the history of a worker: an event of `queuelock contend`, or an event about what the worker did
 * under the lock.
 */
export interface WorkEvent extends Omit<ContendEvent, 'ev'> {
  readonly ev:
    | ContendEvent['ev']
    /** The worker listens for data on the TCP port `port`. */
    | 'listening'
    /**
     * The worker read that the lock was held, and then performed an action under it. `t` is the time before
     * the read.
     */
    | 'acted'
    /** The worker read that the lock was not held, and did not act. */
    | 'refrained';
  readonly port?: number;
  /**
   * Kind of callback in which the worker read whether the lock was held. Present in the events `acted` and
   * `refrained`.
   */
  readonly by?: string;
  /**
   * Remaining proven time of the hold in milliseconds, counted from `t`. Present in the events `acquired` and
   * `acted`.
   */
  readonly remainingMs?: number;
}
