import { invalidArgument } from '@queuelock/core/backend';

/** The keys from `key` up to, and without, `range_end`. */
export interface KeyRange {
  readonly key: Buffer;
  readonly range_end: Buffer;
}

/** What the store tells of a key under a queue's prefix. */
export interface EntryKey {
  readonly key: string;
  /** Its last part, after the queue's prefix. */
  readonly name: string;
  /** Whether the name is one of ours: no others are ever marked. */
  readonly ours: boolean;
  readonly shared: boolean;
  /** The first limit that the entry was made with. */
  readonly limit: number;
  readonly permits: number;
}

/** What an entry's name is made of. */
export interface NameParts {
  readonly id: string;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits?: number;
}

const MAX_NAME_BYTES = 1_024;
/** Below a prefix: where queuelock keeps keys of its own. */
export const OWN_DIRECTORY = '.queuelock';
const OUR_NAME = /^(?:~\d+\.)?[0-9a-f]+-[0-9a-f]{32}(?:~(r)|~([1-9]\d{0,14})of([1-9]\d{0,14}))?$/;

/**
 * Throws `INVALID_ARGUMENT` for names that would collide with other keys or with each other.
 * Everything else is stored as it is written, so that `etcdctl lock NAME` and Go's `NewMutex(session, NAME)` join.
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

/** The queue's name as a key prefix; everything directly under it is a contender. */
export function queuePrefix(prefix: string, queue: string): string {
  return `${prefix}${queue}/`;
}

/**
 * Go's form, `NAME/<lease in hex>`, and then an id, since many entries share one lease: that of the entry, or of an earlier one whose
 * key it has; see `key-ids.ts`. Shared ones end in `~r`; those that take or
 * allow more than one permit in `~<permits>of<limit>`, so that others know it from a list of names.
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
 * What the names of fast entries begin with, of those who reach the queue by this prefix: they have a tail for themselves. Who reaches it by
 * another one, with another name, is somebody else to them. No such mark is the beginning of another one.
 */
export function fastMark(prefix: string): string {
  return `~${Buffer.byteLength(prefix)}.`;
}

/** A name without that mark. */
function withoutFastMark(name: string): string {
  return name.replace(/^~\d+\./, '');
}

/** Where a queue's keys are that are not of these fast entries: the ranges before and behind those. */
export function rangesBesideFast(under: string, mark: string): readonly [KeyRange, KeyRange] {
  const { key, range_end } = rangeUnder(under);
  // Behind the point, with which the mark ends, comes the slash.
  return [
    { key, range_end: Buffer.from(under + mark) },
    { key: Buffer.from(under + mark.replace('.', '/')), range_end },
  ];
}

/** What all keys that an entry may have begin with, and one of them is. */
export function entryStem(under: string, lease: string, id: string): string {
  return `${under}${leaseHex(lease)}-${id}`;
}

/** The stem and every name that goes on with `~`. */
export function rangeOfStem(stem: string): KeyRange {
  return { key: Buffer.from(stem), range_end: Buffer.from(`${stem}\u007f`) };
}

/** Whether queuelock keeps keys of its own there. */
export function isOwnKey(prefix: string, key: string): boolean {
  return key.startsWith(`${prefix}${OWN_DIRECTORY}/`);
}

/** Where a key of somebody is. */
export interface KeyPlace {
  /** The queue that its directory would be. */
  readonly queue: string;
  readonly child: string;
}

/** `undefined` for a key that is in no directory, or one that queuelock keeps for itself. */
export function placeOf(prefix: string, key: Buffer): KeyPlace | undefined {
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

/** The keys among these that are entries of that session in some queue. */
export function entriesIn(
  keys: readonly Buffer[],
  { prefix, lease }: { readonly prefix: string; readonly lease: string },
): readonly SessionEntry[] {
  const session = leaseHex(lease);
  return keys.flatMap((key) => {
    const { queue, child = '' } = placeOf(prefix, key) ?? {};
    const [, owner, keyId] = /^([0-9a-f]+)-([0-9a-f]{32})(?:~|$)/.exec(withoutFastMark(child)) ?? [];
    return queue === undefined || keyId === undefined || owner !== session ? [] : [{ queue, keyId, key }];
  });
}

/** The session's private key, outside of every queue; see `generation.ts`. */
export function generationKey(prefix: string, lease: string): string {
  return `${prefix}${OWN_DIRECTORY}/${leaseHex(lease)}`;
}

/** A key of the session that is never written, for a deletion that changes nothing; see `proof.ts`. */
export function absentKey(prefix: string, lease: string): string {
  return `${generationKey(prefix, lease)}/absent`;
}

/** A key that nobody writes, for reads that only ask for the store's state. */
export function nobodysKey(prefix: string): string {
  return `${prefix}${OWN_DIRECTORY}/nobody`;
}

/** A lease id (decimal text of an int64) as Go prints it: `%x`. */
export function leaseHex(lease: string): string {
  return BigInt.asUintN(64, BigInt(lease)).toString(16);
}

/** Where holds of a queue leave their traces; see `traces.ts`. */
export function traceDirectory(prefix: string, queue: string): string {
  return `${prefix}${OWN_DIRECTORY}/held/${queue}/`;
}

/** Where entries of a queue are marked as shared; see `marks.ts`. */
export function markDirectory(prefix: string, queue: string): string {
  return `${prefix}${OWN_DIRECTORY}/shared/${queue}/`;
}

/** The tail of a queue of fast entries; see `tail.ts`. */
export function tailKey(prefix: string, queue: string): string {
  return `${prefix}${OWN_DIRECTORY}/tail/${queue}`;
}

/** A queue's register; see `registers.ts`. */
export function registerKey(prefix: string, queue: string, kind: string): string {
  return `${prefix}${OWN_DIRECTORY}/register/${kind}/${queue}`;
}

/** All keys that start with this text, which must end in `/`. */
export function rangeUnder(under: string): KeyRange {
  const key = Buffer.from(under);
  const end = Buffer.from(under);
  end[end.length - 1] = '/'.charCodeAt(0) + 1;
  return { key, range_end: end };
}

/**
 * What a key is in the queue with this prefix; `undefined` for the keys of nested names (`a/b` under `a/`).
 * Any direct child is an exclusive contender, whoever wrote it, but for our own shared entries.
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

/** Go's mutex and whatever is made with it: the lease alone; our entries: the lease, and more after a hyphen; fast ones have a mark in front. */
export function isNamedAfterLease(child: string, lease: string): boolean {
  if (lease === '0') return false;
  const hex = leaseHex(lease);
  return child === hex || withoutFastMark(child).startsWith(`${hex}-`);
}
