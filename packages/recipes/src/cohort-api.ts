import type { ClaimOptions, Hold, Ownership, WorkOptions } from '@queuelock/core';
import type { WaitOptions } from './wait-limit.ts';

/** Settings of a cohort. */
export interface CohortOptions extends Pick<ClaimOptions, 'owner' | 'metadata'> {
  /**
   * How many times in a row the lock may pass from one local acquirer of the cohort to the next, ahead of
   * waiters in other processes. With 0 the lock is released after each hold. Default 16.
   */
  readonly handOffs?: number;
}

/** Acquirers of one name in one process; made by `cohort`. */
export interface Cohort extends AsyncDisposable {
  readonly name: string;
  /**
   * Waits for the lock. Release it with `release()` or `await using`.
   * @throws {QueueLockError} `TIMEOUT` or the signal's reason, which end the wait of this acquirer only; `CLOSED`; the error of the
   *   cohort's entry, which ends the waits of all acquirers
   */
  acquire(options?: WaitOptions): Promise<CohortHold>;
  /**
   * Runs `work` while holding the lock. An `acquire` or `run` of the same cohort inside `work` waits for itself for ever. Unlike
   * `LockClient.run`, the cohort does not detect that.
   * @returns the result of `work`
   * @throws {QueueLockError} like `acquire`; `OWNERSHIP_LOST` when the lock was lost while `work` ran, with the error of `work` as its `cause`; the
   *   error of `work` otherwise
   */
  run<T>(
    work: (hold: CohortHold, stop: AbortSignal) => T | PromiseLike<T>,
    options?: WaitOptions & WorkOptions,
  ): Promise<Awaited<T>>;
  /**
   * Closes the cohort: its waiters reject with `CLOSED`, and its hold is revoked with the reason
   * `client-closed`. If its entry is still waiting, the entry is removed. The client stays open.
   * @returns resolves when the hold is released
   */
  close(): Promise<void>;
}

/**
 * The local hold of one acquirer. The cohort's entry holds the lock, and passes the right to act to one
 * acquirer after another. The hold has no `key`: all acquirers share the key of that entry, so a guard that
 * compares keys would accept a late write of an earlier acquirer.
 */
export interface CohortHold extends Hold, Pick<Ownership, 'name' | 'id' | 'order' | 'token'> {}
