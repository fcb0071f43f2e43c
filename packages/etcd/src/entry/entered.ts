import { QueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { IKeyValue, IRangeResponse, IRequestOp } from '../protocol/messages.ts';

import type { Entry } from './entry.ts';
import { readKey } from '../queue/keys.ts';
import type { Generation } from './generation.ts';
import { readKeys, read } from '../queue/txn.ts';
import type { Found, Entered } from './enqueue-outcome.ts';

/** An entry that an enqueue request is to create, with the specification that the caller passed to `enqueue`. */
export interface Newcomer {
  readonly entry: Entry;
  readonly spec: EntrySpec;
}

/** The lease of the session, its generation key, and the generation that an enqueue transaction requires. */
export interface Ticket {
  readonly lease: string;
  readonly own: Pick<Generation, 'key' | 'read'>;
  /** The generation of the session that the transaction requires; see `generation.ts`. */
  readonly generation: bigint;
}

/** Returns operations that read the session's generation key, the key of each entry, and the key of each mark that may exist. */
export function readsOf(newcomers: readonly Newcomer[], { own }: Ticket): IRequestOp[] {
  return [
    read(own.key),
    ...newcomers.map(({ entry }) => readKeys(entry.sought)),
    ...newcomers.flatMap(({ entry }) => (entry.soughtMark ? [readKeys(entry.soughtMark)] : [])),
  ];
}

/** The entries and the state of the session with which an enqueue transaction was sent, and the index of one of these entries. */
export interface BatchPosition {
  readonly newcomers: readonly Newcomer[];
  readonly ticket: Ticket;
  /** The index of the entry in the list `newcomers`. */
  readonly i: number;
}

/**
 * Reads from the response to an enqueue transaction why the server refused it. Throws `ENTRY_LOST` if the entry's key exists on the lease of another
 * session. Throws `SESSION_LOST` if another process has resumed the session.
 */
export function readRefusal(
  ranges: readonly (IRangeResponse | undefined)[],
  { newcomers, ticket, i }: BatchPosition,
): Entered {
  const [stored, ...rest] = ranges;
  const generation = ticket.own.read(known(stored).kvs[0]);
  const newcomer = newcomers[i] as Newcomer;
  const own = ownRow(known(rest[i]), newcomer.entry);
  const marks = newcomer.entry.soughtMark ? known(rest[newcomers.length + i]).kvs : [];
  if (own?.lease === ticket.lease) return { status: 'found', ...foundIn(own, marks) };
  if (own) {
    const lost = new QueueLockError('ENTRY_LOST', `another lease holds the key ${own.key.toString()}`);
    newcomer.entry.lose(lost);
    throw lost;
  }
  return { status: 'outdated', generation };
}

/**
 * Returns the key of the entry among the keys that were read. The read may also have returned keys of nested names, such as `a/b` in the queue `a`.
 */
export function ownRow({ kvs }: IRangeResponse, { under }: Entry): IKeyValue | undefined {
  return kvs.find(({ key }) => readKey(under, key) !== undefined);
}

export function foundIn(own: IKeyValue, marks: readonly IKeyValue[]): Found {
  return { key: own.key, order: BigInt(own.create_revision), marked: marks.length > 0 };
}

/** Returns the given part of a response, such as the result of one read. Throws `UNAVAILABLE` if the server has left it out. */
export function known<T>(part: T | null | undefined): T {
  if (part === undefined || part === null)
    throw new QueueLockError('UNAVAILABLE', 'the response of etcd does not match the request');
  return part;
}
