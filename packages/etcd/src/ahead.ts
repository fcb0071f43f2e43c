import { QueueLockError, type Ahead } from '@queuelock/core/backend';
import type { IKeyValue, IRangeResponse } from 'etcd3';
import { readKey, type KeyRange } from './keys.ts';

/** A key of one life: the same key created again is another one, as Go's mutex does with each lock of a session. */
export interface KeyRef {
  readonly key: Buffer;
  readonly createRevision: string;
  readonly permits?: number;
}

/** The own entry, as far as others matter to it. */
export interface Contender {
  readonly key: Buffer;
  readonly shared: boolean;
  /** The queue's prefix, and the same as a range. */
  readonly under: string;
  readonly range: KeyRange;
}

// With so many more rows than needed the number of entries ahead is exact for short queues.
const SPARE_ROWS = 30;

/** How many rows are asked for, so that `count` conflicting ones are among them unless readers or nested names fill it. */
export function windowFor(count: number): number {
  return count + 1 + SPARE_ROWS;
}

/**
 * The conflicting entries ahead that are among these rows of the queue (latest first), with their number if no rows are
 * missing. Throws `ENTRY_LOST` when the own one is not the first.
 */
export function aheadIn(rows: IRangeResponse, own: Contender): Ahead<KeyRef> {
  const [first, ...older] = rows.kvs;
  if (!first?.key.equals(own.key)) {
    throw new QueueLockError('ENTRY_LOST', 'the entry is not in the queue any more');
  }
  const refs = older.filter((row) => conflicts(row, own)).map(refOf);
  // `more` and not `count`: the server counts the keys before it applies a filter on revisions.
  return rows.more ? { refs } : { refs, total: refs.length };
}

/** Whether that is all there is to know for an entry that waits for `count` others. */
export function suffices(ahead: Ahead<KeyRef>, count: number): boolean {
  return ahead.total !== undefined || ahead.refs.length >= count;
}

/** Whether another contender's key stands against the own one. */
function conflicts(row: IKeyValue, own: Contender): boolean {
  const other = readKey(own.under, row.key);
  return other !== undefined && !(own.shared && other.shared);
}

function refOf({ key, create_revision }: IKeyValue): KeyRef {
  return { key, createRevision: create_revision };
}
