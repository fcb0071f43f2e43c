import { isQueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import type { Fact } from './facts.ts';

/** The circumstances that may explain the end of a wait, or a change of a hold, as the program knows them. */
export interface Circumstances {
  readonly client: string;
  /** The reason with which the program aborted the wait itself. */
  readonly abort?: unknown;
  /** Whether any client removes entries of other clients in this queue. */
  readonly isUnruly: boolean;
  /** Whether the program requires a minimum remaining time of the hold. */
  readonly isDemanding: boolean;
  /** Whether the timeout of the wait may pass before a healthy store has responded. */
  readonly isHasty: boolean;
  /** Whether the client is closed or closing. */
  readonly isStopped: boolean;
}

interface Reasons extends Circumstances {
  /** Whether the client was denied access to the store. */
  readonly isDenied: boolean;
  /** Whether there was any fault in this run. */
  readonly isTroubled: boolean;
}

/** For each error code, the condition under which the error may occur. All other errors must not occur. */
const NEEDS: Readonly<Partial<Record<QueueLockErrorCode, (reasons: Reasons) => boolean>>> = {
  // A timeout may always occur: the client ahead need not hold, since it may wait for another name too.
  TIMEOUT: () => true,
  CLOSED: ({ isStopped }) => isStopped,
  INVALID_ARGUMENT: ({ isDemanding }) => isDemanding,
  NOT_ENOUGH_TIME: ({ isDemanding, isTroubled }) => isDemanding || isTroubled,
  ACCESS_DENIED: ({ isDenied }) => isDenied,
  // A client whose enqueue was overtaken repeats its request, which may fail.
  UNAVAILABLE: ({ isTroubled, isHasty, isUnruly }) => isTroubled || isHasty || isUnruly,
  SESSION_LOST: ({ isTroubled }) => isTroubled,
  OWNERSHIP_LOST: ({ isTroubled, isStopped }) => isTroubled || isStopped,
  ENTRY_LOST: ({ isTroubled }) => isTroubled,
};

/** Returns whether the circumstances or an earlier event explain the error. */
export function isExplained(error: unknown, around: Circumstances, facts: readonly Fact[]): boolean {
  if (mentionsRemoval(error)) return around.isUnruly;
  if (!isQueueLockError(error)) return error === around.abort;
  const faults = facts.filter((fact) => fact.type === 'fault');
  const isDenied = faults.some(({ what, target }) => what === 'denied' && isSame(target, around.client));
  return NEEDS[error.code]?.({ ...around, isDenied, isTroubled: faults.length > 0 }) ?? false;
}

/**
 * Returns whether both names belong to one session. A process that resumes a session has the permissions of
 * the earlier one.
 */
function isSame(client: string, other: string): boolean {
  return client.replaceAll("'", '') === other.replaceAll("'", '');
}

/**
 * A client that may not take the single key leaves the queue too. The removal is then the cause of its error.
 */
function mentionsRemoval(error: unknown): boolean {
  if (isQueueLockError(error, 'ENTRY_LOST')) return error.cause === undefined || mentionsRemoval(error.cause);
  return isQueueLockError(error, 'OWNERSHIP_LOST') && error.reason === 'entry-removed';
}
