import type { Ownership } from '@queuelock/core';

/** One event in the history of a contender. Large numbers are decimal strings. */
export interface ContendEvent {
  /** Time of the event in nanoseconds since 1970, see `stamp.ts`. */
  readonly t: string;
  readonly id: string;
  readonly ev: 'requesting' | 'enqueued' | 'acquired' | 'released' | 'lost' | 'cancelled' | 'error';
  readonly name: string;
  /** Key of the entry in the store. */
  readonly key?: string;
  /** Order number that the server gave the entry: etcd's create revision, ZooKeeper's sequence number. */
  readonly token?: string;
  /**
   * Fencing token, if it differs from the order number. That is the case on ZooKeeper, where the token is the
   * creation zxid.
   */
  readonly zxid?: string;
  /** Number of the contender's round (join, hold and release), from 1. */
  readonly n: number;
  /**
   * Time at which the server confirmed the release. Only the event `released` has it. The `t` of that event
   * is the time at which the contender requested the release.
   */
  readonly t_done?: string;
  /** Reason of the loss of the lock. Only the event `lost` has it. */
  readonly reason?: string;
  /** Code of the error. Only the event `error` has it. */
  readonly code?: string;
  readonly message?: string;
}

/** Properties of an event that identify its entry, in the order in which they are printed. */
export type EntryFields = Pick<ContendEvent, 'key' | 'token' | 'zxid'>;

export function entryFields({ key, order, token }: Pick<Ownership, 'key' | 'order' | 'token'>): EntryFields {
  return { key, token: order.toString(), ...(token === order ? {} : { zxid: token.toString() }) };
}
