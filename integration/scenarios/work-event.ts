import type { ContendEvent } from '@queuelock/cli/src/contend/event.ts';

/** A line of the history of a worker: as that of `queuelock contend`, and what it does with the lock. */
export interface WorkEvent extends Omit<ContendEvent, 'ev'> {
  readonly ev:
    | ContendEvent['ev']
    /** It listens for pokes on `port`. */
    | 'listening'
    /** It looked, and the lock was held: it acted. `t` is from before it looked. */
    | 'acted'
    /** It looked, and the lock was not held. */
    | 'refrained';
  readonly port?: number;
  /** With `acted` and `refrained`: what called it. */
  readonly by?: string;
  /** With `acquired` and `acted`: how long the hold is proven, counted from `t`. */
  readonly remainingMs?: number;
}
