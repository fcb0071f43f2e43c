import { isQueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import type { Fact } from './facts.ts';

/** Facts that explain the end of a wait, or a change of a hold, as its program knows them. */
export interface Circumstances {
  readonly client: string;
  /** Reason of its own abort. */
  readonly abort?: unknown;
  /** Whether a client removes entries of others in this queue. */
  readonly isUnruly: boolean;
  /** Whether it requires a minimum remaining time of a hold. */
  readonly isDemanding: boolean;
  /** Whether its time may end before a healthy store has responded. */
  readonly isHasty: boolean;
  /** Whether its client is closed or closing. */
  readonly isStopped: boolean;
}

interface Reasons extends Circumstances {
  /** Whether its client was denied access. */
  readonly isDenied: boolean;
  /** Whether there was a fault in this run. */
  readonly isTroubled: boolean;
}

/** Conditions of errors by code; all other errors must not occur. */
const NEEDS: Readonly<Partial<Record<QueueLockErrorCode, (reasons: Reasons) => boolean>>> = {
  // A client ahead need not hold: it may wait for another name too.
  TIMEOUT: () => true,
  CLOSED: ({ isStopped }) => isStopped,
  INVALID_ARGUMENT: ({ isDemanding }) => isDemanding,
  NOT_ENOUGH_TIME: ({ isDemanding, isTroubled }) => isDemanding || isTroubled,
  ACCESS_DENIED: ({ isDenied }) => isDenied,
  // A client that was overtaken repeats its request.
  UNAVAILABLE: ({ isTroubled, isHasty, isUnruly }) => isTroubled || isHasty || isUnruly,
  SESSION_LOST: ({ isTroubled }) => isTroubled,
  OWNERSHIP_LOST: ({ isTroubled, isStopped }) => isTroubled || isStopped,
  ENTRY_LOST: ({ isTroubled }) => isTroubled,
};

/** Returns whether an event or a request explains the error. */
export function isExplained(error: unknown, around: Circumstances, facts: readonly Fact[]): boolean {
  if (mentionsRemoval(error)) return around.isUnruly;
  if (!isQueueLockError(error)) return error === around.abort;
  const faults = facts.filter((fact) => fact.type === 'fault');
  const isDenied = faults.some(({ what, target }) => what === 'denied' && isSame(target, around.client));
  return NEEDS[error.code]?.({ ...around, isDenied, isTroubled: faults.length > 0 }) ?? false;
}

/** Returns whether both names belong to one session: another process that resumes it has its permissions. */
function isSame(client: string, other: string): boolean {
  return client.replaceAll("'", '') === other.replaceAll("'", '');
}

/** A client that may not take the single key leaves the queue too, with another cause. */
function mentionsRemoval(error: unknown): boolean {
  if (isQueueLockError(error, 'ENTRY_LOST')) return error.cause === undefined || mentionsRemoval(error.cause);
  return isQueueLockError(error, 'OWNERSHIP_LOST') && error.reason === 'entry-removed';
}
