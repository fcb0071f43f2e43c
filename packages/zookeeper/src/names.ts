/**
 * How queues and entries are named.
 *
 * A queue is one directory. Its name is the path below the chroot, as users of Curator write it; a leading slash is
 * optional. What ZooKeeper cannot hold is percent-encoded, and nothing else, so plain names stay as they are:
 *
 * - characters that ZooKeeper refuses (control characters, and all of U+D800 to U+F8FF and U+FFF0 to U+FFFF, which
 *   takes in emoji): each byte of their UTF-8 becomes `%XX`;
 * - `%` becomes `%25` where two hexadecimal digits follow, so that no two names share a path;
 * - the first character of the segments `.` and `..`, and of `.queuelock` and `zookeeper` as the first segment.
 *
 * Refused: empty names and segments, names with lone surrogates, and segments that would count as an entry.
 *
 * An entry is a child that matches `CONTENDER`, the names that Curator's InterProcessMutex and InterProcessReadWriteLock
 * write, whatever stands before `lock-`, `__READ__` or `__WRIT__`. All other children are ignored.
 */
import { invalidArgument } from '@queuelock/core/backend';

const MAX_PATH_BYTES = 1_024;
const CONTENDER = /(lock-|__READ__|__WRIT__)(\d{10}|-\d{9,10})$/;
// PathUtils.validatePath of the server, in UTF-16 units; surrogates come in pairs here.
const REFUSED_BY_SERVER =
  /[\u0000-\u001f\u007f-\u009f\ue000-\uf8ff\ufff0-\uffff]|[\ud800-\udbff][\udc00-\udfff]|%(?=[0-9a-f]{2})/gi;

/** Below the chroot; the private nodes of sessions live there, outside of every queue. */
export const PRIVATE_DIRECTORY = '.queuelock';

/**
 * The directory of a queue below `root` (`''` or `/chroot`).
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name that cannot be one.
 */
export function queuePath(root: string, queue: string): string {
  if (typeof queue !== 'string') throw invalidArgument('name', queue, 'is a string');
  if (/\p{Surrogate}/u.test(queue)) throw invalidArgument('name', queue, 'is well-formed Unicode');
  const segments = queue.replace(/^\//, '').split('/');
  if (segments.includes('')) {
    throw invalidArgument('name', queue, 'is a path whose segments are not empty, such as jobs/invoices');
  }
  if (segments.some((segment) => parseContender(segment))) {
    throw invalidArgument('name', queue, 'has no segment that reads like an entry of a queue (…lock-0000000001)');
  }
  const path = `${root}/${segments.map((segment, at) => encodeSegment(segment, at === 0)).join('/')}`;
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw invalidArgument('name', queue, `takes at most ${MAX_PATH_BYTES} bytes as a path below the chroot`);
  }
  return path;
}

function encodeSegment(segment: string, isFirst: boolean): string {
  const isReserved = isFirst && (segment === PRIVATE_DIRECTORY || segment === 'zookeeper');
  if (isReserved || segment === '.' || segment === '..') return percent(segment[0] ?? '') + segment.slice(1);
  return segment.replace(REFUSED_BY_SERVER, percent);
}

function percent(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** The protection that Curator puts before a node's name, here with the entry's id as its UUID. */
export function entryPrefix(id: string): string {
  return `_c_${id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}-`;
}

/** The name of a new entry; the server appends the sequence number. */
export function entryName(id: string, shared: boolean): string {
  return entryPrefix(id) + (shared ? '__READ__' : 'lock-');
}

/** A child that stands in the queue. */
export interface Contender {
  readonly name: string;
  /** As the server appended it: a signed 32-bit number that wraps from 2147483647 to -2147483648. */
  readonly sequence: number;
  /** A `__READ__` entry; two of them do not conflict. */
  readonly shared: boolean;
}

/** Reads a child's name; `undefined` for one that is no entry. */
export function parseContender(name: string): Contender | undefined {
  const [, kind, digits] = CONTENDER.exec(name) ?? [];
  const sequence = Number(digits);
  if (kind === undefined || sequence !== (sequence | 0)) return undefined;
  return { name, sequence, shared: kind === '__READ__' };
}

/** How far `later` stands behind `earlier`; right as long as fewer than 2^31 creates lie between the two. */
export function distance(earlier: number, later: number): number {
  return (later - earlier) | 0;
}

/** A sequence number as an order that grows through the wrap at 2^31, for the first 2^32 entries of a directory. */
export function orderOf(sequence: number): bigint {
  return BigInt(sequence >>> 0);
}

/** The entries among these children, in order; those of one number keep a writer before the reader it turned into. */
export function contendersIn(children: readonly string[]): Contender[] {
  const found = children.map(parseContender).filter((contender) => contender !== undefined);
  const origin = found[0]?.sequence ?? 0;
  const rank = ({ sequence }: Contender): number => distance(origin, sequence);
  return found.sort((a, b) => rank(a) - rank(b) || Number(a.shared) - Number(b.shared));
}

/** The entries ahead of `own` that conflict with it, nearest first. */
export function conflictsAhead(children: readonly string[], own: Contender): Contender[] {
  return contendersIn(children)
    .filter((other) => distance(other.sequence, own.sequence) > 0 && !(other.shared && own.shared))
    .reverse();
}
