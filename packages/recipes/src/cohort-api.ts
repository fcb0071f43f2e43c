import type { ClaimOptions, Hold, Ownership, WorkOptions } from '@queuelock/core';
import type { WaitOptions } from './patience.ts';

/** Settings of a cohort. */
export interface CohortOptions extends Pick<ClaimOptions, 'owner' | 'metadata'> {
  /** How often in a row the lock may go from one acquirer of the cohort to the next, past those who wait elsewhere. Default 16; 0: never. */
  readonly handOffs?: number;
}

/** Acquirers of one name in one process; made by `cohort`. */
export interface Cohort extends AsyncDisposable {
  readonly name: string;
  /**
   * Waits for the lock; give it on with `release()` or `await using`. Rejects with `TIMEOUT` or the signal's reason, which end the wait of
   * this acquirer only; with `CLOSED`; and with whatever the wait of the cohort's entry ended by, which ends all their waits.
   */
  acquire(options?: WaitOptions): Promise<CohortHold>;
  /**
   * Runs `work` with the lock. Rejects as `acquire` does, with `OWNERSHIP_LOST` when the lock was lost while `work` ran, whatever `work`
   * did (its own error is the `cause`), and with the error of `work` otherwise. Acquiring again within `work` waits for itself
   * for ever: unlike `LockClient.run` nothing here notices it.
   */
  run<T>(
    work: (hold: CohortHold, stop: AbortSignal) => T | PromiseLike<T>,
    options?: WaitOptions & WorkOptions,
  ): Promise<Awaited<T>>;
  /**
   * Turns away those who wait, with `CLOSED`, and revokes the hold (`client-closed`). Settles when that is given back; a place in line
   * that was not held yet is withdrawn meanwhile. The client stays open.
   */
  close(): Promise<void>;
}

/**
 * A local hold of a cohort: the right to act that its entry has, for one acquirer at a time. It has no `key`: a guard that compares the shared
 * entry would accept a late write of an earlier acquirer.
 */
export interface CohortHold extends Hold, Pick<Ownership, 'name' | 'id' | 'order' | 'token'> {}
