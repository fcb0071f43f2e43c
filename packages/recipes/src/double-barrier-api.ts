import type { WaitOptions } from './wait-limit.ts';

/** The membership of one client in a round of a double barrier, from the beginning of the round. */
export interface RoundMembership {
  /** Id of the round: equal for all its members, different for every other round. */
  readonly round: string;
  /** Number of this member in the round, from 0 to `members - 1`; different for each member. */
  readonly index: number;
  /** Aborts with `OWNERSHIP_LOST` when the entry of this member is lost. The other members then no longer wait for it. */
  readonly signal: AbortSignal;
  /**
   * Marks this member as done, waits until all other members are done or have lost their entries, and removes
   * the entry. Further calls return the same outcome.
   * @throws {QueueLockError} `TIMEOUT` or the signal's reason, after this member has left alone;
   * `OWNERSHIP_LOST` after a loss
   */
  readonly leave: (options?: WaitOptions) => Promise<void>;
}

/** A barrier at the beginning and at the end of a computation; made by `doubleBarrier`. */
export interface DoubleBarrier {
  readonly name: string;
  /**
   * Joins the queue, and resolves when the round of this member begins. When it rejects, the entry is
   * removed. If the round began at the same moment, the other members treat this member as one that has died.
   * @throws {QueueLockError} `TIMEOUT` or the signal's reason; `OWNERSHIP_LOST` when the entry is lost before
   * the round begins, for instance because the client is closed; `LIMIT_MISMATCH` when an entry ahead has
   * another number of members; the errors of `LockClient.acquire` when it cannot join
   */
  enter(options?: WaitOptions): Promise<RoundMembership>;
}
