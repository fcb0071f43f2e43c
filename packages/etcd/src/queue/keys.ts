import { invalidArgument } from '@queuelock/core/backend';

/** A range of keys, from `key` (included) to `range_end` (excluded). */
export interface KeyRange {
  readonly key: Buffer;
  readonly range_end: Buffer;
}

/** The properties of an entry that its key contains, such as whether it is shared, its limit and its permits. */
export interface EntryKey {
  readonly key: string;
  /** The last part of the entry's key, after the prefix of its queue. */
  readonly name: string;
  /** Whether queuelock created the entry. Only such entries can have marks; see `marks.ts`. */
  readonly ours: boolean;
  readonly shared: boolean;
  /** The limit with which the entry was created. */
  readonly limit: number;
  readonly permits: number;
}

/** The parts of an entry's name: the id, whether the entry is shared, the limit and the permits. */
export interface NameParts {
  readonly id: string;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits?: number;
}

const MAX_NAME_BYTES = 1_024;
/** The directory below the prefix in which queuelock keeps keys of its own. */
export const OWN_DIRECTORY = '.queuelock';
const LONE_SURROGATE = /\p{Surrogate}/u;
const OUR_NAME = /^(?:~\d+\.)?[0-9a-f]+-[0-9a-f]{32}(?:~(r)|~([1-9]\d{0,14})of([1-9]\d{0,14}))?$/;

/**
 * Checks a queue's name. It is stored unchanged, so that `etcdctl lock NAME` and Go's `NewMutex(session, NAME)` join the queue.
 * Throws `INVALID_ARGUMENT` for names that would collide with other keys or with each other.
 */
export function checkName(prefix: string, queue: string): void {
  if (queue === '') throw invalidArgument('name', queue, 'is at least one character long');
  if (LONE_SURROGATE.test(prefix + queue))
    throw invalidArgument('name', queue, 'is well-formed Unicode, without lone surrogates');
  if (Buffer.byteLength(prefix + queue) > MAX_NAME_BYTES) {
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

/** Returns the prefix of the keys of a queue. Every key directly under it is a contender. */
export function queuePrefix(prefix: string, queue: string): string {
  return `${prefix}${queue}/`;
}

/**
 * Returns the key of an entry. It has Go's form, `NAME/<lease in hex>`, and then an id, since many entries share one lease. The id is that of
 * the entry, or of an earlier one with the same key; see `key-ids.ts`. Shared entries end in `~r`. Entries that take or allow more than one
 * permit end in `~<permits>of<limit>`, so that a list of keys shows it.
 */
export function entryKey(under: string, lease: string, { id, ...properties }: NameParts): string {
  return entryStem(under, lease, id) + suffixOf(properties).text;
}

/** The suffix of an entry's key, and the number of permits that the suffix shows to other clients. */
interface KeySuffix {
  readonly text: string;
  readonly permits: number;
}

/** Returns the suffix of the key of an entry with the given properties. */
export function suffixOf({ shared, limit, permits = 1 }: Omit<NameParts, 'id'>): KeySuffix {
  if (shared) return READER;
  return limit > 1 ? { text: `~${permits}of${limit}`, permits } : NO_SUFFIX;
}

const READER: KeySuffix = { text: '~r', permits: 1 };
const NO_SUFFIX: KeySuffix = { text: '', permits: 1 };

/**
 * Returns the beginning of the names of entries with naming `fast`. It contains the length of the prefix, because clients that reach the queue by
 * another prefix and another name do not share its tail. The digits end with a dot, so no such beginning is itself the beginning of another one.
 */
export function fastMark(prefix: string): string {
  return `~${Buffer.byteLength(prefix)}.`;
}

/** Removes the beginning `~<digits>.` from the name of an entry with naming `fast`. Returns other names unchanged. */
function withoutFastMark(name: string): string {
  return name.replace(/^~\d+\./, '');
}

/** Returns the key ranges of a queue before and after the keys of its entries with naming `fast`. */
export function rangesBesideFast(under: string, mark: string): readonly [KeyRange, KeyRange] {
  const { key, range_end } = rangeUnder(under);
  // The names of entries with naming `fast` begin with `mark` (see `fastMark`), whose last character is a dot. In ASCII the slash follows the dot, so
  // the range of these keys ends where a slash replaces the dot.
  return [
    { key, range_end: Buffer.from(under + mark) },
    { key: Buffer.from(under + mark.replace('.', '/')), range_end },
  ];
}

/** Returns the stem of an entry's key: the key without the suffix that a shared entry or a limit adds. */
export function entryStem(under: string, lease: string, id: string): string {
  return `${under}${leaseHex(lease)}-${id}`;
}

/** Returns the range of all keys that an entry with this stem may have: the stem itself, or the stem with `~` and a suffix. */
export function rangeOfStem(stem: string): KeyRange {
  return { key: Buffer.from(stem), range_end: Buffer.from(`${stem}\u007f`) };
}

/** Returns whether the key is in the directory `.queuelock/`, in which queuelock stores its own data. */
export function isOwnKey(prefix: string, key: string): boolean {
  return key.startsWith(`${prefix}${OWN_DIRECTORY}/`);
}

/** The queue to which a key belongs, and the last part of the key, after the queue's name. */
export interface KeyLocation {
  /** The queue's name, taken from the directory of the key, whether or not the queue has entries. */
  readonly queue: string;
  readonly child: string;
}

/** Splits a key into queue and name. Returns `undefined` for a key in no directory, or in the directory `.queuelock/`. */
export function locationOf(prefix: string, key: Buffer): KeyLocation | undefined {
  const text = key.toString();
  const slash = text.lastIndexOf('/');
  if (slash <= prefix.length || isOwnKey(prefix, text)) return undefined;
  return { queue: text.slice(prefix.length, slash), child: text.slice(slash + 1) };
}

/** An entry of a session, as far as the entry's key describes it. */
export interface SessionEntry {
  readonly queue: string;
  readonly keyId: string;
  readonly key: Buffer;
}

/** Returns those of the given keys that belong to entries of the session, in any queue. */
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

/** Returns the key whose revision is the session's generation. It is outside of every queue; see `generation.ts`. */
export function generationKey(prefix: string, lease: string): string {
  return `${prefix}${OWN_DIRECTORY}/${leaseHex(lease)}`;
}

/** Returns a key of the session that is never written. Deleting it is a write that changes nothing; see `proof.ts`. */
export function absentKey(prefix: string, lease: string): string {
  return `${generationKey(prefix, lease)}/absent`;
}

/** Returns a key that no client writes. Reading it returns only the store's revision. */
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

/** Returns the range of all keys that start with the given text, which must end in `/`. */
export function rangeUnder(under: string): KeyRange {
  const key = Buffer.from(under);
  const end = Buffer.from(under);
  end[end.length - 1] = '/'.charCodeAt(0) + 1;
  return { key, range_end: end };
}

/**
 * Reads an entry from its key. Returns `undefined` for keys of nested names, such as `a/b` in the queue `a`. Every key directly in the queue's
 * directory is an exclusive contender, whichever client wrote it, except queuelock's own shared entries.
 */
export function readKey(under: string, key: Buffer): EntryKey | undefined {
  return readKeyText(under, key.toString());
}

/** What a name without a suffix shows about its entry. */
const PLAIN = { shared: false, limit: 1, permits: 1 } as const;

/** Reads an entry from its key as `readKey` does. The key is text here. */
export function readKeyText(under: string, text: string): EntryKey | undefined {
  const name = text.slice(under.length);
  if (name.includes('/')) return undefined;
  // Most names have no suffix. They need no `exec`, whose result takes memory for each row of a queue.
  if (!name.includes('~')) return { key: text, name, ours: OUR_NAME.test(name), ...PLAIN };
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

/** Returns whether a key begins with its lease in hexadecimal. Go's mutex uses the lease alone, queuelock adds a hyphen and an id. */
export function isNamedAfterLease(child: string, lease: string): boolean {
  if (lease === '0') return false;
  const hex = leaseHex(lease);
  return child === hex || withoutFastMark(child).startsWith(`${hex}-`);
}
