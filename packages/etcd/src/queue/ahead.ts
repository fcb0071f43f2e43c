// Chapter queue: how does a queue stand in the store, and who is ahead in it?
// keys: names and ranges. txn: the words of transactions. Here: of what was read, those ahead. seen-queue, queue-lines: kept by events.

import { QueueLockError, type EntriesAhead } from '@queuelock/core/backend';
import type { IRangeResponse } from '../protocol/messages.ts';
import { readKey } from './keys.ts';
import { marksIn } from './marks.ts';

/** A key of one life: the same key created again is another one, as Go's mutex and our sessions do it for each lock of a name. */
export interface KeyRef {
  readonly key: Buffer;
  readonly createRevision: string;
}

/** The same as text, to know one by. */
export function lifeOf({ key, createRevision }: KeyRef): string {
  return `${createRevision} ${key.toString()}`;
}

/** A conflicting entry. */
export interface ConflictingEntry extends KeyRef {
  /** Permits that it takes. */
  readonly permits: number;
  /** What its name says of its limit. A shared one is of a lock, which has 1. */
  readonly limit: number;
  /** Whether it is one that may tell by its label that it owns the queue; see `owning.ts`. */
  readonly mayTell: boolean;
  /** For a shared entry: the key whose coming ends the conflict, as the going of the rival does. */
  readonly mark?: Buffer;
}

/** The own entry, as far as others matter to it. */
export interface Contender {
  readonly key: Buffer;
  readonly shared: boolean;
  /** The queue's prefix. */
  readonly under: string;
  /** Where the queue's marks are. */
  readonly markDirectory: string;
}

/** What was read of a queue at one point. */
export interface QueueRows {
  /** Its keys, the latest first. */
  readonly latest: IRangeResponse;
  /** Its marks, for shared entries. */
  readonly marks?: IRangeResponse | undefined;
}

// With so many more rows than needed the number of entries ahead is exact for short queues.
const SPARE_ROWS = 30;

/** How many rows are asked for, so that `count` conflicting ones are among them unless readers or nested names fill it. */
export function windowFor(count: number): number {
  return count + 1 + SPARE_ROWS;
}

/**
 * The conflicting entries ahead that are among these rows of the queue, with their number if no rows are missing.
 * Throws `ENTRY_LOST` when the own one is not the first. Keys of nested names that were made in one step with it may be before it; so
 * many that it is not among the rows tell nothing.
 */
export function aheadIn({ latest, marks }: QueueRows, own: Contender): EntriesAhead<ConflictingEntry> {
  const rows = latest.kvs;
  const self = rows.find(({ key }) => key.equals(own.key));
  if (!self && isCutOff(latest)) return { refs: [] };
  if (!self || self.create_revision !== rows[0]?.create_revision)
    throw new QueueLockError('ENTRY_LOST', 'the entry is not in the queue any more');
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
      mayTell: ours && !other.shared && limit === 1,
      ...(own.shared && ours ? { mark: Buffer.from(own.markDirectory + name) } : {}),
    });
  }
  // `more` and not `count`: the server counts the keys before it applies a filter on revisions.
  const seenAt = BigInt(latest.header.revision);
  return latest.more ? { refs, seenAt } : { refs, total: refs.length, seenAt };
}

/** What is known of those ahead of a fast entry that came right behind that one; see `tail.ts`. */
export function aheadBehind(last: KeyRef): EntriesAhead<ConflictingEntry> {
  return { refs: [{ ...last, permits: 1, limit: 1, mayTell: true }] };
}

/** Whether rows of the same revision as the first may be missing. */
function isCutOff({ kvs, more }: IRangeResponse): boolean {
  return more && kvs[0]?.create_revision === kvs.at(-1)?.create_revision;
}

/** Whether that is all there is to know for an entry that waits for `count` others. */
export function suffices(ahead: EntriesAhead<ConflictingEntry>, count: number): boolean {
  return ahead.total !== undefined || ahead.refs.length >= count;
}

/** The limit of the nearest one that has another limit. */
export function otherLimitIn({ refs }: EntriesAhead<ConflictingEntry>, limit: number): number | undefined {
  return refs.find((ref) => ref.limit !== limit)?.limit;
}
