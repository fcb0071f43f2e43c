import type { Ownership, SharedOwnership } from '@queuelock/core';
import type { Machine } from '../timeline.ts';
import { LIMIT } from './plan.ts';
import type { StoredEntry } from './store.ts';

/** A hold as its program sees it. */
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
  /** Whether its downgrade has no answer yet, so that its entry may still be exclusive. */
  isDowngrading: boolean;
  /** Returns what the product reports now. */
  readonly remainingMs: () => number;
  /** Whether it was released, or its process has ended. */
  isOver: boolean;
  /** Ids of entries that its session had left and that were still in the queue when it began. */
  standins?: readonly string[];
}

/** A hold of one queue, as a program receives it. */
type Single = Pick<Ownership, 'name' | 'token' | 'remainingMs'> &
  Partial<Pick<SharedOwnership, 'grantToken' | 'shared'>>;

/** Owner of the hold. `permits`: of a hold in the queue with permits. */
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

/** Returns whether only one of the two may be held at a time. */
export function conflict(one: Held, other: Held): boolean {
  return one.queue === other.queue && !(one.shared && other.shared);
}

/** Returns whether it is the hold of an earlier process of the session. */
export function isSame(one: Held, other: Held): boolean {
  return lifeOf(one) === lifeOf(other);
}

/** Returns the session of an entry, as far as its key contains it. */
export function sessionOf({ key }: Pick<StoredEntry, 'key'>): string | undefined {
  return /\/(?:~\d+\.)?([0-9a-f]+)-[^/]*$/.exec(key)?.[1];
}

/**
 * Returns an identity of an entry by its token, which is unique in the queue. A writer that has become a reader has another key,
 * and keeps its token.
 */
export function lifeOf({ key, token }: Pick<StoredEntry, 'key' | 'token'>): string {
  return `${key.slice(0, key.lastIndexOf('/'))} ${token}`;
}
