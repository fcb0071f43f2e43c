import type { EntriesAhead, EntrySpec, StoredEntry } from '@queuelock/core/backend';
import type { KvPair } from '../driver/responses.ts';
import { isEntryId } from './keys.ts';

/** An entry as it is stored. */
export interface Contender {
  readonly key: string;
  /** The index of the transaction that created the entry's key. It is also the order number of the entry. */
  readonly order: bigint;
  readonly modifyIndex: bigint;
  readonly session: string | undefined;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits: number;
  readonly value: string;
  /** Whether a program other than queuelock created the entry. */
  readonly isForeign: boolean;
}

/** The properties of an entry that are stored in the value of its key. */
type EntryText = Pick<Contender, 'shared' | 'limit' | 'permits' | 'value'>;

/** Formats the value of an entry's key. */
export function textOf({
  shared,
  limit,
  permits = 1,
  value = '',
}: Pick<EntrySpec, 'shared' | 'limit' | 'permits' | 'value'>): string {
  return JSON.stringify({ shared, limit, permits, value });
}

const EXCLUSIVE = { shared: false, limit: 1, permits: 1 };

/** Parses a key of a queue as an entry. A key that queuelock did not write counts as an exclusive entry with the key's value. */
export function contenderOf(pair: KvPair): Contender {
  const { key, createIndex, modifyIndex, session, text } = pair;
  const known = isEntryId(key.slice(key.lastIndexOf('/') + 1)) ? entryIn(text) : undefined;
  const place = { key, order: createIndex, modifyIndex, session };
  return { ...place, ...(known ?? { ...EXCLUSIVE, value: text }), isForeign: known === undefined };
}

function entryIn(text: string): EntryText | undefined {
  let found: Partial<Record<keyof EntryText, unknown>>;
  try {
    found = Object(JSON.parse(text)) as typeof found;
  } catch {
    return undefined;
  }
  const { shared, limit, permits, value } = found;
  const isEntry =
    typeof shared === 'boolean' && isCount(limit) && isCount(permits) && typeof value === 'string';
  return isEntry ? { shared, limit, permits, value } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/**
 * Returns the entries among the keys of a queue, in order. Keys with the same order number, which one transaction has created, are in different
 * queues.
 */
export function contendersIn(pairs: readonly KvPair[]): Contender[] {
  return pairs.map(contenderOf).sort((a, b) => Number(a.order - b.order));
}

/** The properties of a waiter's entry that decide which entries are ahead of it and conflict with it. */
export type OwnPlace = Pick<Contender, 'key' | 'order' | 'shared'>;

/** Returns the conflicting entries ahead of the waiter's entry. */
export function aheadOf(contenders: readonly Contender[], own: OwnPlace): EntriesAhead<Contender> {
  const refs = contenders
    .filter((other) => other.key !== own.key && other.order < own.order && !(other.shared && own.shared))
    .reverse();
  return { refs, total: refs.length };
}

/**
 * Returns the limit of the nearest entry ahead whose limit differs from that of the waiter's exclusive entry. A
 * reader ahead counts as a lock, whose limit is 1.
 */
export function otherLimitAhead(
  { refs }: EntriesAhead<Contender>,
  { shared, limit }: Pick<EntrySpec, 'shared' | 'limit'>,
): number | undefined {
  if (shared) return undefined;
  return refs.map((ref) => (ref.shared ? 1 : ref.limit)).find((other) => other !== limit);
}

/** Returns an entry as observers see it. */
export function storedEntry({ key, order, shared, value, isForeign, session }: Contender): StoredEntry {
  const foreign = session === undefined ? 'without-lease' : 'with-lease';
  return { key, order, shared, value, ...(isForeign && { foreign }) };
}
