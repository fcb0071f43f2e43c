import type { Ownership } from '@queuelock/core';

/** One line of the history of a contender. Numbers that may be large are decimal strings. */
export interface ContendEvent {
  /** When it happened: nanoseconds of the day's time, see `stamp.ts`. */
  readonly t: string;
  readonly id: string;
  readonly ev: 'requesting' | 'enqueued' | 'acquired' | 'released' | 'lost' | 'cancelled' | 'error';
  readonly name: string;
  /** The entry as the store holds it. */
  readonly key?: string;
  /** The server's order of the entry: etcd's create revision, ZooKeeper's sequence number. */
  readonly token?: string;
  /** The fencing token where it is not the order: ZooKeeper's creation zxid. */
  readonly zxid?: string;
  /** The round, from 1. */
  readonly n: number;
  /** With `released`: when the server had confirmed it; `t` is from before it was asked. */
  readonly t_done?: string;
  /** With `lost`: why. */
  readonly reason?: string;
  /** With `error`. */
  readonly code?: string;
  readonly message?: string;
}

/** The entry of an event, in the order of the printed fields. */
export type EntryFields = Pick<ContendEvent, 'key' | 'token' | 'zxid'>;

export function entryFields({ key, order, token }: Pick<Ownership, 'key' | 'order' | 'token'>): EntryFields {
  return { key, token: order.toString(), ...(token === order ? {} : { zxid: token.toString() }) };
}
