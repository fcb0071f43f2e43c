import { QueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { IKeyValue, IRangeResponse, IRequestOp } from '../protocol/messages.ts';
import type { KeyRef, QueueRows } from '../queue/ahead.ts';
import type { Entry } from './entry.ts';
import { readKey } from '../queue/keys.ts';
import type { Generation } from './generation.ts';
import { lookAt, read } from '../queue/txn.ts';

/** An entry on its way into the queue, and how it was asked for. */
export interface Newcomer {
  readonly entry: Entry;
  readonly spec: EntrySpec;
}

/** The session's part in an enqueue. */
export interface Ticket {
  readonly lease: string;
  readonly own: Pick<Generation, 'key' | 'read'>;
  /** That the request compares. */
  readonly generation: bigint;
}

/** An entry as the server has it. */
export interface Found {
  readonly key: Buffer;
  readonly order: bigint;
  readonly marked: boolean;
}

/** What the server made of an enqueue. */
export type Entered =
  /**
   * In the queue now, with what was read of it then: all of it, or the last one ahead. `withSingle` if its single key was created along
   * with it.
   */
  | {
      readonly status: 'made';
      readonly order: bigint;
      readonly rows?: QueueRows;
      readonly behind?: KeyRef;
      readonly withSingle?: true;
    }
  /** In the queue since an earlier attempt whose answer was lost. */
  | ({ readonly status: 'found' } & Found)
  /** Not in the queue, and the generation that was compared is not the server's; or another that belongs to it is not. */
  | { readonly status: 'outdated'; readonly generation: bigint }
  /** Not in the queue, only if it was to be empty: `contenders` are there (or the single key), or nothing but keys of nested names. */
  | { readonly status: 'occupied'; readonly contenders: boolean };

/** At the generation, at each entry, and at the marks that may be there. */
export function looks(newcomers: readonly Newcomer[], { own }: Ticket): IRequestOp[] {
  return [
    read(own.key),
    ...newcomers.map(({ entry }) => lookAt(entry.sought)),
    ...newcomers.flatMap(({ entry }) => (entry.soughtMark ? [lookAt(entry.soughtMark)] : [])),
  ];
}

/** Whose answer it is. */
export interface Asker {
  readonly newcomers: readonly Newcomer[];
  readonly ticket: Ticket;
  /** Which of the newcomers. */
  readonly i: number;
}

/** Throws `ENTRY_LOST` when somebody else holds the key, `SESSION_LOST` when another process has resumed the session. */
export function readLooks(
  ranges: readonly (IRangeResponse | undefined)[],
  { newcomers, ticket, i }: Asker,
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

/** The entry's own row among those of its look, which may have met keys of nested names. */
export function ownRow({ kvs }: IRangeResponse, { under }: Entry): IKeyValue | undefined {
  return kvs.find(({ key }) => readKey(under, key) !== undefined);
}

export function foundIn(own: IKeyValue, marks: readonly IKeyValue[]): Found {
  return { key: own.key, order: BigInt(own.create_revision), marked: marks.length > 0 };
}

/** What was asked for, where a well-behaved server has it. */
export function known<T>(answer: T | null | undefined): T {
  if (answer === undefined || answer === null)
    throw new QueueLockError('UNAVAILABLE', 'etcd gave an answer that does not fit the request');
  return answer;
}
