import type { Ownership, SharedOwnership } from '@queuelock/core';
import type { Machine } from '../timeline.ts';
import { LIMIT } from './plan.ts';
import type { StoredEntry } from './store.ts';

/** A hold of a simulated client: its entry, its proven time, and the state of its downgrade and release. */
export interface Held {
  readonly who: string;
  readonly machine: Machine;
  readonly queue: string;
  readonly key: string;
  readonly token: bigint;
  readonly grantToken?: bigint | undefined;
  readonly limit: number;
  readonly permits: number;
  shared: boolean;
  /**
   * Whether the client requested a downgrade without a response, so that the entry may still be exclusive.
   */
  isDowngrading: boolean;
  /** Returns how long the hold is still proven, in milliseconds, as the code under test reports it. */
  readonly remainingMs: () => number;
  /** Whether the hold was released, or its process has ended. */
  isOver: boolean;
  /**
   * Ids of earlier entries of the same session that were still in the queue when this hold began. They keep
   * other clients waiting, too.
   */
  standins?: readonly string[];
}

/** The properties of an ownership that the checks of a run use. */
type Single = Pick<Ownership, 'name' | 'token' | 'remainingMs'> &
  Partial<Pick<SharedOwnership, 'grantToken' | 'shared'>>;

/**
 * The client of a hold, and the permits that it requests. Permits count only in the queue `p`, the one
 * semaphore of a run.
 */
type User = Pick<Held, 'who' | 'machine' | 'isOver' | 'permits' | 'key'>;

export function heldOf(single: Single, { permits, ...user }: User): Held {
  const { name: queue, token, grantToken, shared = false } = single;
  const hasPermits = queue === 'p';
  return {
    ...{ ...user, queue, token, grantToken, shared },
    isDowngrading: false,
    ...{ limit: hasPermits ? LIMIT : 1, permits: hasPermits ? permits : 1 },
    remainingMs: () => single.remainingMs,
  };
}

/** Returns whether the two holds exclude each other. Permits are not considered. */
export function conflict(one: Held, other: Held): boolean {
  return one.queue === other.queue && !(one.shared && other.shared);
}

/**
 * Returns whether `one` and `other` are the same hold. It stays the same when another process resumes its
 * session.
 */
export function isSame(one: Held, other: Held): boolean {
  return lifeOf(one) === lifeOf(other);
}

/** Returns the session id in the key of an entry, or `undefined` if the key has none. */
export function sessionOf({ key }: Pick<StoredEntry, 'key'>): string | undefined {
  return /\/(?:~\d+\.)?([0-9a-f]+)-[^/]*$/.exec(key)?.[1];
}

/**
 * Returns a text that identifies an entry: its queue and its token. The key is not part of it, since a writer
 * that became a reader has a new key and the same token.
 */
export function lifeOf({ key, token }: Pick<StoredEntry, 'key' | 'token'>): string {
  return `${key.slice(0, key.lastIndexOf('/'))} ${token}`;
}
