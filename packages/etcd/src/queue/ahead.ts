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
 * Returns a text that identifies one entry by its key and its create revision. The key alone does not identify it, since a later entry may have the
 * same key.
 */
export function creationId({ key, createRevision }: KeyRef): string {
  return creationIdOfText(key.toString(), createRevision);
}

/** Returns the same text as `creationId`: one that identifies an entry by its key and its create revision. The key is text here. */
export function creationIdOfText(key: string, createRevision: string): string {
  return `${createRevision} ${key}`;
}

/** An entry ahead that conflicts with the waiter's entry. */
export interface ConflictingEntry extends KeyRef {
  /** The number of permits that the conflicting entry takes. */
  readonly permits: number;
  /** The limit in the name of the conflicting entry. A shared entry has the limit 1. */
  readonly limit: number;
  /** Whether the label of the conflicting entry may show that it holds the lock; see `owning.ts`. */
  readonly mayAnnounce: boolean;
  /**
   * The key of the mark of the conflicting entry, if the waiter's entry is shared. When the mark is created, the conflicting entry becomes a shared
   * one, and the conflict ends.
   */
  readonly mark?: Buffer;
}

/** A conflicting entry ahead, as a waiter stores it in memory while it waits. It takes less memory than a row of a response. */
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
  /** The prefix of all keys of the waiter's queue. */
  readonly under: string;
  /** The directory of the marks of the waiter's queue; see `marks.ts`. */
  readonly markDirectory: string;
}

/** The keys that a read of a queue has returned, all at one revision. */
export interface QueueRows {
  /** The entries of the queue, the newest first. */
  readonly latest: IRangeResponse;
  /** The marks of the queue, which are read only for shared entries; see `marks.ts`. */
  readonly marks?: IRangeResponse | undefined;
}

// How many more rows of a queue each read requests than the waiter needs. So a short queue is read completely, and the number of entries ahead is
// exact.
const SPARE_ROWS = 30;

/**
 * Returns how many rows of a queue to read in order to find `count` conflicting entries. Readers and keys of nested names may take some of the rows.
 */
export function windowFor(count: number): number {
  return count + 1 + SPARE_ROWS;
}

const NO_MARKS: ReadonlySet<string> = new Set();

/**
 * Returns the entries ahead of `own` that conflict with it, and their number if the read has returned all of them. Throws `ENTRY_LOST` if `own` is
 * not the newest entry that was read. Only keys of nested names from the same transaction may precede it. If these keys fill all rows, the result is
 * empty.
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
  // The property `more` of the response shows whether the read has left out rows. The property `count` does not: etcd counts all keys of the range,
  // also those that `max_create_revision` excludes.
  const seenAt = BigInt(latest.header.revision);
  return latest.more ? { refs, seenAt } : { refs, total: refs.length, seenAt };
}

/** Returns what an enqueue shows of the entries ahead of an entry with naming `fast`: only the predecessor `last`; see `tail.ts`. */
export function aheadOfFast(last: KeyRef): EntriesAhead<ConflictingEntry> {
  return { refs: [{ ...last, permits: 1, limit: 1, mayAnnounce: true }] };
}

/** Returns only those entries ahead on which the next turn depends, converted to the objects that a waiter stores in memory. */
export function keptAhead(
  ahead: EntriesAhead<ConflictingEntry>,
  rule: AdmissionRule,
): EntriesAhead<ConflictingEntry> {
  const kept = remembered(ahead, rule);
  return Object.assign({}, kept, { refs: kept.refs.map((ref) => new KeptEntry(ref)) });
}

/** Returns whether all rows of a read have the same create revision, and further rows with that revision may exist beyond the row limit. */
function isCutOff({ kvs, more }: IRangeResponse): boolean {
  return more && kvs[0]?.create_revision === kvs.at(-1)?.create_revision;
}

/** Returns whether the given entries ahead suffice for a waiter that must watch `count` of them: they are all entries ahead, or at least `count`. */
export function suffices(ahead: EntriesAhead<ConflictingEntry>, count: number): boolean {
  return ahead.total !== undefined || ahead.refs.length >= count;
}

/** Returns the limit of the nearest entry ahead that has another limit than the given one, if there is such an entry. */
export function otherLimitIn({ refs }: EntriesAhead<ConflictingEntry>, limit: number): number | undefined {
  return refs.find((ref) => ref.limit !== limit)?.limit;
}
