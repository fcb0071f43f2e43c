import { invalidArgument } from '@queuelock/core/backend';

/** The keys from `key` up to, and without, `range_end`. */
export interface KeyRange {
  readonly key: Buffer;
  readonly range_end: Buffer;
}

/** What the store tells of a key under a queue's prefix. */
export interface EntryKey {
  readonly key: string;
  readonly shared: boolean;
}

const MAX_NAME_BYTES = 1_024;
const OWN_DIRECTORY = '.queuelock';
const SHARED_ENTRY = /^[0-9a-f]+-[0-9a-f]{32}~r$/;

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

/** Go's form, `NAME/<lease in hex>`, and then the entry: many entries share one lease. Shared ones end in `~r`. */
export function entryKey(
  under: string,
  lease: string,
  entry: { readonly id: string; readonly shared: boolean },
): string {
  return `${under}${leaseHex(lease)}-${entry.id}${entry.shared ? '~r' : ''}`;
}

/** The session's private key, outside of every queue; see `generation.ts`. */
export function generationKey(prefix: string, lease: string): string {
  return `${prefix}${OWN_DIRECTORY}/${leaseHex(lease)}`;
}

/** A key of the session that is never written, for a deletion that changes nothing; see `proof.ts`. */
export function absentKey(prefix: string, lease: string): string {
  return `${generationKey(prefix, lease)}/absent`;
}

/** A lease id (decimal text of an int64) as Go prints it: `%x`. */
export function leaseHex(lease: string): string {
  return BigInt.asUintN(64, BigInt(lease)).toString(16);
}

/** Where holds of a queue leave their traces; see `traces.ts`. */
export function traceDirectory(prefix: string, queue: string): string {
  return `${prefix}${OWN_DIRECTORY}/held/${queue}/`;
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
  const rest = text.slice(under.length);
  return rest.includes('/') ? undefined : { key: text, shared: SHARED_ENTRY.test(rest) };
}
