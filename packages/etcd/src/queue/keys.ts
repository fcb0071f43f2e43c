import { invalidArgument } from '@queuelock/core/backend';

/** The keys from `key` up to `range_end`, which is excluded. */
export interface KeyRange {
  readonly key: Buffer;
  readonly range_end: Buffer;
}

/** An entry, read from its key. */
export interface EntryKey {
  readonly key: string;
  /** The last part of the key, after the queue's prefix. */
  readonly name: string;
  /** Whether queuelock created the entry. Only such entries have marks. */
  readonly ours: boolean;
  readonly shared: boolean;
  /** The limit that the entry was created with. */
  readonly limit: number;
  readonly permits: number;
}

/** The parts of an entry's name. */
export interface NameParts {
  readonly id: string;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits?: number;
}

const MAX_NAME_BYTES = 1_024;
/** The directory below the prefix in which queuelock keeps keys of its own. */
export const OWN_DIRECTORY = '.queuelock';
const OUR_NAME = /^(?:~\d+\.)?[0-9a-f]+-[0-9a-f]{32}(?:~(r)|~([1-9]\d{0,14})of([1-9]\d{0,14}))?$/;

/**
 * Checks a queue's name. It is stored unchanged, so that `etcdctl lock NAME` and Go's `NewMutex(session, NAME)` join the queue.
 * Throws `INVALID_ARGUMENT` for names that would collide with other keys or with each other.
 */
export function checkName(prefix: string, queue: string): void {
  const bytes = Buffer.from(prefix + queue);
  if (queue === '') throw invalidArgument('name', queue, 'is at least one character long');
  if (bytes.toString() !== prefix + queue)
    throw invalidArgument('name', queue, 'is well-formed Unicode, without lone surrogates');
  if (bytes.length > MAX_NAME_BYTES) {
    throw invalidArgument(
      'name',
      queue,
      `is at most ${MAX_NAME_BYTES} bytes of UTF-8 together with the prefix`,
    );
  }
  if (queue === OWN_DIRECTORY || queue.startsWith(`${OWN_DIRECTORY}/`)) {
    throw invalidArgument(
      'name',
      queue,
      `does not start with "${OWN_DIRECTORY}", where queuelock keeps its own keys`,
    );
  }
}

/** Returns the prefix of the queue's keys. Every key directly under it is a contender. */
export function queuePrefix(prefix: string, queue: string): string {
  return `${prefix}${queue}/`;
}

/**
 * Returns the key of an entry. It has Go's form, `NAME/<lease in hex>`, and then an id, since many entries share one lease. The id is that of
 * the entry, or of an earlier one with the same key; see `key-ids.ts`. Shared entries end in `~r`. Entries that take or allow more than one
 * permit end in `~<permits>of<limit>`, so that a list of keys shows it.
 */
export function entryKey(
  under: string,
  lease: string,
  { id, shared, limit, permits = 1 }: NameParts,
): string {
  const plain = entryStem(under, lease, id);
  if (shared) return `${plain}~r`;
  return limit > 1 ? `${plain}~${permits}of${limit}` : plain;
}

/**
 * Returns what the names of fast entries begin with. It contains the length of the prefix: clients that reach the same queue by another prefix and
 * another name do not share the tail. No such beginning is the beginning of another one.
 */
export function fastMark(prefix: string): string {
  return `~${Buffer.byteLength(prefix)}.`;
}

/** Removes the beginning of fast entries from a name. */
function withoutFastMark(name: string): string {
  return name.replace(/^~\d+\./, '');
}

/** Returns the key ranges of a queue before and after its fast entries. */
export function rangesBesideFast(under: string, mark: string): readonly [KeyRange, KeyRange] {
  const { key, range_end } = rangeUnder(under);
  // The range begins with the mark, whose last character is a point, and ends before the slash, which follows the point in ASCII.
  return [
    { key, range_end: Buffer.from(under + mark) },
    { key: Buffer.from(under + mark.replace('.', '/')), range_end },
  ];
}

/** Returns the common beginning of all keys that an entry may have. One of the keys equals it. */
export function entryStem(under: string, lease: string, id: string): string {
  return `${under}${leaseHex(lease)}-${id}`;
}

/** Returns the range of the stem and of every name that continues it with `~`. */
export function rangeOfStem(stem: string): KeyRange {
  return { key: Buffer.from(stem), range_end: Buffer.from(`${stem}\u007f`) };
}

/** Returns whether queuelock keeps the key for itself. */
export function isOwnKey(prefix: string, key: string): boolean {
  return key.startsWith(`${prefix}${OWN_DIRECTORY}/`);
}

/** The queue and the name of a key. */
export interface KeyLocation {
  /** The name of the queue that the directory of the key belongs to, whether or not that queue exists. */
  readonly queue: string;
  readonly child: string;
}

/** Splits a key. Returns `undefined` for a key that is in no directory, or that queuelock keeps for itself. */
export function locationOf(prefix: string, key: Buffer): KeyLocation | undefined {
  const text = key.toString();
  const slash = text.lastIndexOf('/');
  if (slash <= prefix.length || isOwnKey(prefix, text)) return undefined;
  return { queue: text.slice(prefix.length, slash), child: text.slice(slash + 1) };
}

/** An entry of a session, read from its key. */
export interface SessionEntry {
  readonly queue: string;
  readonly keyId: string;
  readonly key: Buffer;
}

/** Returns the keys that are entries of the session, in any queue. */
export function entriesIn(
  keys: readonly Buffer[],
  { prefix, lease }: { readonly prefix: string; readonly lease: string },
): readonly SessionEntry[] {
  const session = leaseHex(lease);
  return keys.flatMap((key) => {
    const { queue, child = '' } = locationOf(prefix, key) ?? {};
    const [, owner, keyId] = /^([0-9a-f]+)-([0-9a-f]{32})(?:~|$)/.exec(withoutFastMark(child)) ?? [];
    return queue === undefined || keyId === undefined || owner !== session ? [] : [{ queue, keyId, key }];
  });
}

/** Returns the session's private key, outside of every queue; see `generation.ts`. */
export function generationKey(prefix: string, lease: string): string {
  return `${prefix}${OWN_DIRECTORY}/${leaseHex(lease)}`;
}

/** Returns a key of the session that is never written, for a deletion that changes nothing; see `proof.ts`. */
export function absentKey(prefix: string, lease: string): string {
  return `${generationKey(prefix, lease)}/absent`;
}

/** Returns a key that no client writes, for reads that need only the store's state. */
export function unusedKey(prefix: string): string {
  return `${prefix}${OWN_DIRECTORY}/nobody`;
}

/** Converts a lease id (decimal text of an int64) to Go's format `%x`. */
export function leaseHex(lease: string): string {
  return BigInt.asUintN(64, BigInt(lease)).toString(16);
}

/** Returns the directory of the traces of a queue's holds; see `traces.ts`. */
export function traceDirectory(prefix: string, queue: string): string {
  return `${prefix}${OWN_DIRECTORY}/held/${queue}/`;
}

/** Returns the directory of the marks of a queue's entries; see `marks.ts`. */
export function markDirectory(prefix: string, queue: string): string {
  return `${prefix}${OWN_DIRECTORY}/shared/${queue}/`;
}

/** Returns the key of the tail of a queue's fast entries; see `tail.ts`. */
export function tailKey(prefix: string, queue: string): string {
  return `${prefix}${OWN_DIRECTORY}/tail/${queue}`;
}

/** Returns the key of a queue's register; see `registers.ts`. */
export function registerKey(prefix: string, queue: string, kind: string): string {
  return `${prefix}${OWN_DIRECTORY}/register/${kind}/${queue}`;
}

/** Returns the range of all keys that start with this text, which must end in `/`. */
export function rangeUnder(under: string): KeyRange {
  const key = Buffer.from(under);
  const end = Buffer.from(under);
  end[end.length - 1] = '/'.charCodeAt(0) + 1;
  return { key, range_end: end };
}

/**
 * Reads an entry from its key. Returns `undefined` for the keys of nested names (`a/b` under `a/`). Every direct child is an exclusive
 * contender, whichever client wrote it, except our own shared entries.
 */
export function readKey(under: string, key: Buffer): EntryKey | undefined {
  const text = key.toString();
  const name = text.slice(under.length);
  if (name.includes('/')) return undefined;
  const [ours, reader, permits = 1, limit = 1] = OUR_NAME.exec(name) ?? [];
  return {
    key: text,
    name,
    ours: ours !== undefined,
    shared: reader !== undefined,
    limit: Number(limit),
    permits: Number(permits),
  };
}

/** Returns whether a key is named after its lease: by the lease alone, as Go's mutex does, or by the lease and a hyphen, as our entries do. */
export function isNamedAfterLease(child: string, lease: string): boolean {
  if (lease === '0') return false;
  const hex = leaseHex(lease);
  return child === hex || withoutFastMark(child).startsWith(`${hex}-`);
}
