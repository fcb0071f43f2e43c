// Folder "queue": defines the keys of a queue, and finds the entries ahead of an entry.
// keys.ts builds names and ranges. txn.ts builds parts of transactions. ahead.ts (this file) finds the entries ahead in a result.
// observed-queue.ts and listed-queues.ts update observed queues by events.

import { QueueLockError, remembered, type AdmissionRule, type EntriesAhead } from '@queuelock/core/backend';
import type { IRangeResponse } from '../protocol/messages.ts';
import { readKey } from './keys.ts';
import { marksIn } from './marks.ts';

/**
 * A key together with its create revision. Go's mutex and this package may create the same key again for another entry, with another revision.
 */
export interface KeyRef {
  readonly key: Buffer;
  readonly createRevision: string;
}

/** A key that is stored as text. A Buffer for each of thousands of waiters would take four times as much memory. */
export class KeyOfText implements KeyRef {
  readonly createRevision: string;
  readonly #text: string;
  readonly #encoding: 'utf8' | 'latin1';

  /** @param encoding the encoding of `text`. Keys of other clients need `latin1`, which can represent any bytes */
  constructor(text: string, createRevision: string, encoding: 'utf8' | 'latin1') {
    this.#text = text;
    this.#encoding = encoding;
    this.createRevision = createRevision;
  }

  get key(): Buffer {
    return Buffer.from(this.#text, this.#encoding);
  }
}

/**
 * Returns a text that identifies one entry. Its key alone does not, since a later entry may have the same
 * key.
 */
export function creationId({ key, createRevision }: KeyRef): string {
  return creationIdOfText(key.toString(), createRevision);
}

/** Does the same as `creationId`, for a key that is text. */
export function creationIdOfText(key: string, createRevision: string): string {
  return `${createRevision} ${key}`;
}

/** An entry ahead that conflicts with the waiter's entry. */
export interface ConflictingEntry extends KeyRef {
  /** The number of permits that this entry takes. */
  readonly permits: number;
  /** The limit in the entry's name. A shared entry has the limit 1. */
  readonly limit: number;
  /** Whether this entry's label may show that it holds the lock; see `owning.ts`. */
  readonly mayAnnounce: boolean;
  /** If the waiter's entry is shared: the key of this entry's mark. The conflict ends when the mark is created, since it makes this entry shared. */
  readonly mark?: Buffer;
}

/** A conflicting entry that a waiter keeps while it waits. */
class KeptEntry extends KeyOfText implements ConflictingEntry {
  readonly permits: number;
  readonly limit: number;
  readonly mayAnnounce: boolean;
  declare readonly mark?: Buffer;

  constructor({ key, createRevision, permits, limit, mayAnnounce, mark }: ConflictingEntry) {
    super(key.toString('latin1'), createRevision, 'latin1');
    this.permits = permits;
    this.limit = limit;
    this.mayAnnounce = mayAnnounce;
    if (mark) this.mark = mark;
  }
}

/** The entry of a waiter, with the properties that decide which other entries conflict with it. */
export interface Contender {
  readonly key: Buffer;
  readonly shared: boolean;
  /** The prefix of the queue's keys. */
  readonly under: string;
  /** The directory of the queue's marks; see `marks.ts`. */
  readonly markDirectory: string;
}

/** The keys of a queue at one revision. */
export interface QueueRows {
  /** The entries of the queue, the newest first. */
  readonly latest: IRangeResponse;
  /** The marks of the queue, which are read only for shared entries; see `marks.ts`. */
  readonly marks?: IRangeResponse | undefined;
}

// Each read requests this many more rows than the waiter must watch. So a short queue is read completely, and the number of entries ahead is exact.
const SPARE_ROWS = 30;

/**
 * Returns how many rows to read in order to find `count` conflicting entries. Readers and keys of nested names may take some of the additional
 * rows.
 */
export function windowFor(count: number): number {
  return count + 1 + SPARE_ROWS;
}

const NO_MARKS: ReadonlySet<string> = new Set();

/**
 * Returns the conflicting entries ahead, and their number if the rows are complete. The entry `own` must be the newest row. Otherwise the function
 * throws `ENTRY_LOST`. Only keys of nested names from the same transaction may come before it. If these fill all rows, the result is empty.
 */
export function aheadIn({ latest, marks }: QueueRows, own: Contender): EntriesAhead<ConflictingEntry> {
  const rows = latest.kvs;
  const ownKey = own.key;
  const self = rows.find(({ key }) => key.equals(ownKey));
  if (!self && isCutOff(latest)) return { refs: [] };
  if (!self || self.create_revision !== rows[0]?.create_revision)
    throw new QueueLockError('ENTRY_LOST', 'the entry is no longer in the queue');
  const marked = marks ? marksIn(marks, own.markDirectory) : NO_MARKS;
  const refs: ConflictingEntry[] = [];
  for (const { key, create_revision: createRevision } of rows) {
    const other = key === self.key ? undefined : readKey(own.under, key);
    if (!other || (own.shared && (other.shared || marked.has(other.name)))) continue;
    const { permits, limit, name, ours } = other;
    refs.push({
      key,
      createRevision,
      permits,
      limit,
      mayAnnounce: ours && !other.shared && limit === 1,
      ...(own.shared && ours ? { mark: Buffer.from(own.markDirectory + name) } : {}),
    });
  }
  // `more` of the response shows whether rows are missing. `count` does not: etcd counts all keys of the range, also those that `max_create_revision`
  // excludes.
  const seenAt = BigInt(latest.header.revision);
  return latest.more ? { refs, seenAt } : { refs, total: refs.length, seenAt };
}

/** Returns what is known of the entries ahead of a fast entry whose predecessor is `last`; see `tail.ts`. */
export function aheadOfFast(last: KeyRef): EntriesAhead<ConflictingEntry> {
  return { refs: [{ ...last, permits: 1, limit: 1, mayAnnounce: true }] };
}

/** Returns only those entries ahead on which the next turn depends, in the form in which a waiter keeps them. */
export function keptAhead(
  ahead: EntriesAhead<ConflictingEntry>,
  rule: AdmissionRule,
): EntriesAhead<ConflictingEntry> {
  const kept = remembered(ahead, rule);
  if (kept.refs.length === 0) return kept;
  return Object.assign({}, kept, { refs: kept.refs.map((ref) => new KeptEntry(ref)) });
}

/** Returns whether all rows have the same create revision, and the row limit of the read has left out rows that may have it too. */
function isCutOff({ kvs, more }: IRangeResponse): boolean {
  return more && kvs[0]?.create_revision === kvs.at(-1)?.create_revision;
}

/** Returns whether these entries ahead suffice for a waiter that must watch `count` of them: they are complete, or at least as many. */
export function suffices(ahead: EntriesAhead<ConflictingEntry>, count: number): boolean {
  return ahead.total !== undefined || ahead.refs.length >= count;
}

/** Returns the limit of the nearest entry ahead whose limit is not `limit`. */
export function otherLimitIn({ refs }: EntriesAhead<ConflictingEntry>, limit: number): number | undefined {
  return refs.find((ref) => ref.limit !== limit)?.limit;
}
