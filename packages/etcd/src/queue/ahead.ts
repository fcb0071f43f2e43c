// The folder queue answers: how is a queue stored, and which entries are ahead?
// keys.ts: names and ranges. txn.ts: parts of transactions. ahead.ts (this file): the entries ahead in a result. observed-queue.ts,
// listed-queues.ts: kept by events.

import { QueueLockError, type EntriesAhead } from '@queuelock/core/backend';
import type { IRangeResponse } from '../protocol/messages.ts';
import { readKey } from './keys.ts';
import { marksIn } from './marks.ts';

/** A key and its creation. The same key may be created again for another entry, by Go's mutex and by our sessions. */
export interface KeyRef {
  readonly key: Buffer;
  readonly createRevision: string;
}

/** Returns a text that identifies one creation of a key. */
export function creationId({ key, createRevision }: KeyRef): string {
  return creationIdOfText(key.toString(), createRevision);
}

/** The same for a key as text. */
export function creationIdOfText(key: string, createRevision: string): string {
  return `${createRevision} ${key}`;
}

/** A conflicting entry. */
export interface ConflictingEntry extends KeyRef {
  /** The number of permits that the entry takes. */
  readonly permits: number;
  /** The limit in the entry's name. A shared entry has the limit 1. */
  readonly limit: number;
  /** Whether the entry's label may show that the entry owns the queue; see `owning.ts`. */
  readonly mayAnnounce: boolean;
  /** For a shared entry: the key whose creation ends the conflict, as the removal of the conflicting entry does. */
  readonly mark?: Buffer;
}

/** The own entry, with what decides which entries conflict with it. */
export interface Contender {
  readonly key: Buffer;
  readonly shared: boolean;
  /** The queue's prefix. */
  readonly under: string;
  /** The directory of the queue's marks. */
  readonly markDirectory: string;
}

/** The keys of a queue at one revision. */
export interface QueueRows {
  /** The entries of the queue, the newest first. */
  readonly latest: IRangeResponse;
  /** The marks of the queue, which only shared entries need. */
  readonly marks?: IRangeResponse | undefined;
}

// Each read requests this many rows more than it needs, so that the number of entries ahead is exact for short queues.
const SPARE_ROWS = 30;

/** Returns how many rows to read, so that `count` conflicting entries are among them unless readers or nested names fill the rows. */
export function windowFor(count: number): number {
  return count + 1 + SPARE_ROWS;
}

/**
 * Returns the conflicting entries ahead in these rows, and their number if no rows are missing. Throws `ENTRY_LOST` if the own entry is not the
 * newest row. Only keys of nested names that were created in the same transaction may precede it. If so many of them do that the own entry is
 * not among the rows, the result is empty.
 */
export function aheadIn({ latest, marks }: QueueRows, own: Contender): EntriesAhead<ConflictingEntry> {
  const rows = latest.kvs;
  const self = rows.find(({ key }) => key.equals(own.key));
  if (!self && isCutOff(latest)) return { refs: [] };
  if (!self || self.create_revision !== rows[0]?.create_revision)
    throw new QueueLockError('ENTRY_LOST', 'the entry is no longer in the queue');
  const marked = marksIn(marks, own.markDirectory);
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
  // The field `more` shows whether rows are missing. The field `count` does not, since the server counts keys before it filters by revision.
  const seenAt = BigInt(latest.header.revision);
  return latest.more ? { refs, seenAt } : { refs, total: refs.length, seenAt };
}

/** Returns what is known of the entries ahead of a fast entry that follows `last`; see `tail.ts`. */
export function aheadOfFast(last: KeyRef): EntriesAhead<ConflictingEntry> {
  return { refs: [{ ...last, permits: 1, limit: 1, mayAnnounce: true }] };
}

/** Returns whether rows with the revision of the first row may be missing. */
function isCutOff({ kvs, more }: IRangeResponse): boolean {
  return more && kvs[0]?.create_revision === kvs.at(-1)?.create_revision;
}

/** Returns whether these entries ahead are sufficient for an entry that waits for `count` of them. */
export function suffices(ahead: EntriesAhead<ConflictingEntry>, count: number): boolean {
  return ahead.total !== undefined || ahead.refs.length >= count;
}

/** Returns the limit of the nearest entry with another limit. */
export function otherLimitIn({ refs }: EntriesAhead<ConflictingEntry>, limit: number): number | undefined {
  return refs.find((ref) => ref.limit !== limit)?.limit;
}
