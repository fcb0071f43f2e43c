import type { WaitOptions } from './patience.ts';

/** One's place in a round that has begun. */
export interface RoundMembership {
  /** A name of the round: the same for all its members, another one for every other round. */
  readonly round: string;
  /** One's number in it, from 0 to `members - 1`: another one for each member. */
  readonly index: number;
  /** Aborts with `OWNERSHIP_LOST` when the entry is lost: the others no longer wait for this member. */
  readonly signal: AbortSignal;
  /**
   * Says that one's part is done, waits until all of the round have said so or are gone, and takes the entry out. Calling it again
   * answers the same. Rejects with `TIMEOUT` or the signal's reason after having left alone; with `OWNERSHIP_LOST` after a loss.
   */
  readonly leave: (options?: WaitOptions) => Promise<void>;
}

/** A barrier at the beginning and at the end of a computation; made by `doubleBarrier`. */
export interface DoubleBarrier {
  readonly name: string;
  /**
   * Joins the line, and resolves when this member's round begins. Rejects with `TIMEOUT` or the signal's reason; with
   * `OWNERSHIP_LOST` when the entry is lost before, also because the client is closed; as `LockClient.acquire` when it cannot join; and with
   * `LIMIT_MISMATCH` when somebody ahead counts on another number of members. The entry is withdrawn then; had the round begun in the
   * same moment, it counts as a member that is gone.
   */
  enter(options?: WaitOptions): Promise<RoundMembership>;
}
