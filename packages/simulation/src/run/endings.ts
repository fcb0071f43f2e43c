import { isQueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import type { Fact } from './facts.ts';

/** Circumstances of a wait or a hold that may explain why it ended. */
export interface Circumstances {
  readonly client: string;
  /** The reason with which the client's program aborted its own wait. */
  readonly abort?: unknown;
  /**
   * Whether any client steals the lock for which this client waits or that it holds, or an operator deletes
   * entries of its queue.
   */
  readonly isUnruly: boolean;
  /** Whether the client's program requires that the hold lasts for a minimum time. */
  readonly isDemanding: boolean;
  /** Whether the timeout is so short that it may pass before a store without faults responds. */
  readonly isHasty: boolean;
  /** Whether the client is closed or closing. */
  readonly isStopped: boolean;
}

interface Reasons extends Circumstances {
  /** Whether the client was denied access to the store. */
  readonly isDenied: boolean;
  /** Whether a fault has occurred so far in this simulated run. */
  readonly isFaulty: boolean;
}

/** For each error code, the condition under which the error may occur. All other errors must not occur. */
const NEEDS: Readonly<Partial<Record<QueueLockErrorCode, (reasons: Reasons) => boolean>>> = {
  // A timeout is always possible, since the holder may itself wait for another lock.
  TIMEOUT: () => true,
  CLOSED: ({ isStopped }) => isStopped,
  INVALID_ARGUMENT: ({ isDemanding }) => isDemanding,
  NOT_ENOUGH_TIME: ({ isDemanding, isFaulty }) => isDemanding || isFaulty,
  ACCESS_DENIED: ({ isDenied }) => isDenied,
  // If a steal removes an entry while its enqueue is in flight, the client repeats the enqueue, and the
  // repetition may fail.
  UNAVAILABLE: ({ isFaulty, isHasty, isUnruly }) => isFaulty || isHasty || isUnruly,
  SESSION_LOST: ({ isFaulty }) => isFaulty,
  OWNERSHIP_LOST: ({ isFaulty, isStopped }) => isFaulty || isStopped,
  ENTRY_LOST: ({ isFaulty }) => isFaulty,
};

/**
 * Returns whether a wait or hold may have ended with the error, under its circumstances and after the faults
 * so far.
 */
export function isExplained(error: unknown, around: Circumstances, facts: readonly Fact[]): boolean {
  if (mentionsRemoval(error)) return around.isUnruly;
  if (!isQueueLockError(error)) return error === around.abort;
  const faults = facts.filter((fact) => fact.type === 'fault');
  const isDenied = faults.some(({ what, target }) => what === 'denied' && isSame(target, around.client));
  return NEEDS[error.code]?.({ ...around, isDenied, isFaulty: faults.length > 0 }) ?? false;
}

/**
 * Returns whether both names are of processes that use one session: the process `c0'` has resumed the session
 * of the process `c0`, and has its permissions.
 */
function isSame(client: string, other: string): boolean {
  return client.replaceAll("'", '') === other.replaceAll("'", '');
}

/**
 * Returns whether the error reports the removal of the client's entry, or was caused by it. A client that may
 * not take its single key removes its entry, too.
 */
function mentionsRemoval(error: unknown): boolean {
  if (isQueueLockError(error, 'ENTRY_LOST')) return error.cause === undefined || mentionsRemoval(error.cause);
  return isQueueLockError(error, 'OWNERSHIP_LOST') && error.reason === 'entry-removed';
}
