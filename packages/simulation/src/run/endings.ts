import { isQueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import type { Fact } from './facts.ts';

/** In what a wait ends, or a change of a hold, as its program knows it. */
export interface Circumstances {
  readonly client: string;
  /** The reason of its own abort. */
  readonly abort?: unknown;
  /** Somebody removes entries of others there. */
  readonly isUnruly: boolean;
  /** It asks for time that a hold is to begin with. */
  readonly isDemanding: boolean;
  /** It may be over before a store has answered with which nothing is wrong. */
  readonly isHasty: boolean;
  /** Its client closes, or has. */
  readonly isStopped: boolean;
}

interface Reasons extends Circumstances {
  /** Its client was refused something. */
  readonly isDenied: boolean;
  /** Something has gone wrong in this run. */
  readonly isTroubled: boolean;
}

/** What an error of that code needs; the others need not come at all. */
const NEEDS: Readonly<Partial<Record<QueueLockErrorCode, (reasons: Reasons) => boolean>>> = {
  // Whoever stands ahead need not hold: it may wait for another name as well.
  TIMEOUT: () => true,
  CLOSED: ({ isStopped }) => isStopped,
  INVALID_ARGUMENT: ({ isDemanding }) => isDemanding,
  NOT_ENOUGH_TIME: ({ isDemanding, isTroubled }) => isDemanding || isTroubled,
  ACCESS_DENIED: ({ isDenied }) => isDenied,
  // Whoever was overtaken asks anew.
  UNAVAILABLE: ({ isTroubled, isHasty, isUnruly }) => isTroubled || isHasty || isUnruly,
  SESSION_LOST: ({ isTroubled }) => isTroubled,
  OWNERSHIP_LOST: ({ isTroubled, isStopped }) => isTroubled || isStopped,
  ENTRY_LOST: ({ isTroubled }) => isTroubled,
};

/** Whether something that happened, or was asked for, is the reason for that error. */
export function isReasoned(error: unknown, around: Circumstances, facts: readonly Fact[]): boolean {
  if (tellsOfRemoval(error)) return around.isUnruly;
  if (!isQueueLockError(error)) return error === around.abort;
  const faults = facts.filter((fact) => fact.type === 'fault');
  const isDenied = faults.some(({ what, target }) => what === 'denied' && isSame(target, around.client));
  return NEEDS[error.code]?.({ ...around, isDenied, isTroubled: faults.length > 0 }) ?? false;
}

/** Also a process that goes on with the session of another one, and has its permissions. */
function isSame(client: string, other: string): boolean {
  return client.replaceAll("'", '') === other.replaceAll("'", '');
}

/** Whoever may not take the single key gives its place up as well, which has another cause. */
function tellsOfRemoval(error: unknown): boolean {
  if (isQueueLockError(error, 'ENTRY_LOST')) return error.cause === undefined || tellsOfRemoval(error.cause);
  return isQueueLockError(error, 'OWNERSHIP_LOST') && error.reason === 'entry-removed';
}
