import type { ContendEvent } from '@queuelock/cli/src/contend/event.ts';

/** A line of the history of a worker: as that of `queuelock contend`, and its actions under the lock. */
export interface WorkEvent extends Omit<ContendEvent, 'ev'> {
  readonly ev:
    | ContendEvent['ev']
    /** It listens for data on `port`. */
    | 'listening'
    /** It read that the lock was held, and acted. `t` is from before the read. */
    | 'acted'
    /** It read that the lock was not held. */
    | 'refrained';
  readonly port?: number;
  /** Kind of callback, with `acted` and `refrained`. */
  readonly by?: string;
  /** Proven time of the hold, counted from `t`, with `acquired` and `acted`. */
  readonly remainingMs?: number;
}
