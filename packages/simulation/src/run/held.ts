import type { Ownership, SharedOwnership } from '@queuelock/core';
import type { Machine } from '../timeline.ts';
import { LIMIT } from './plan.ts';
import type { Standing } from './store.ts';

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
  /** What the product says now. */
  readonly remainingMs: () => number;
  /** Released, or its process is gone. */
  isOver: boolean;
  /** It began while these still stood there, which its session had left. */
  standins?: readonly string[];
}

/** A hold of one queue, as a program gets it. */
type Single = Pick<Ownership, 'name' | 'token' | 'remainingMs'> &
  Partial<Pick<SharedOwnership, 'grantToken' | 'shared'>>;

/** Whose hold it is. `permits`: of one in the queue that has permits. */
type User = Pick<Held, 'who' | 'machine' | 'isOver' | 'permits' | 'key'>;

export function heldOf(single: Single, { permits, ...user }: User): Held {
  const { name: queue, token, grantToken, shared = false } = single;
  const hasPermits = queue === 'p';
  return {
    ...{ ...user, queue, token, grantToken, shared },
    ...{ limit: hasPermits ? LIMIT : 1, permits: hasPermits ? permits : 1 },
    remainingMs: () => single.remainingMs,
  };
}

/** Whether only one of the two may be held at a time. */
export function conflict(one: Held, other: Held): boolean {
  return one.queue === other.queue && !(one.shared && other.shared);
}

/** Whether it is the hold of another process that the session had before. */
export function isSame(one: Held, other: Held): boolean {
  return lifeOf(one) === lifeOf(other);
}

/** Which it belongs to, as far as its key tells. */
export function sessionOf({ key }: Pick<Standing, 'key'>): string | undefined {
  return /\/(?:~\d+\.)?([0-9a-f]+)-[^/]*$/.exec(key)?.[1];
}

/** By its token, which nobody else in the queue has: a writer that has turned into a reader has another key, and keeps that. */
export function lifeOf({ key, token }: Pick<Standing, 'key' | 'token'>): string {
  return `${key.slice(0, key.lastIndexOf('/'))} ${token}`;
}
