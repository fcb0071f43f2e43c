/**
 * How queues and entries are named.
 *
 * A queue is one directory: its name is the path below the chroot, without a slash at the start, so `jobs/invoices` is
 * what users of Curator call `/jobs/invoices`. What cannot stand in a path is percent-encoded, and nothing else, so plain
 * names stay as they are; decoding gives the name back, so no two names share a directory:
 *
 * - characters that ZooKeeper refuses (control characters, U+E000 to U+F8FF, U+FFF0 to U+FFFF, and all beyond U+FFFF,
 *   which takes in emoji): each byte of their UTF-8 becomes `%XX`;
 * - `%` becomes `%25` where two hexadecimal digits follow;
 * - `/` becomes `%2F` at the start, at the end, and after another slash;
 * - the first character of the segments `.` and `..`, and of `.queuelock` and `zookeeper` as the first segment;
 * - the last digit of a segment that would count as an entry.
 *
 * An entry is a child whose name ends in `CONTENDER`: what Curator's InterProcessMutex and InterProcessReadWriteLock
 * write, whatever stands before it. All other children are ignored. An entry of ours that takes permits, or lets others in
 * beside itself, says so in front of that: `_c_<uuid>-2of5-lock-`, which Curator reads as `lock-`.
 */
import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

const CONTENDER = /(lock-|__READ__|__WRIT__)(\d{10}|-\d{9,10})$/;
const OUR_PERMITS =
  /^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-([1-9]\d*)of([1-9]\d*)-lock-(?=-?\d+$)/;
const MAX_PATH_BYTES = 4_096;
/** What no path may have: PathUtils.validatePath of the server goes by UTF-16 units and refuses all surrogates. */
export const REFUSED_BY_SERVER: RegExp = /[\p{Cc}\ue000-\uf8ff\ufff0-\uffff\u{10000}-\u{10ffff}]/gu;
const LIKE_AN_ESCAPE = /%(?=[0-9a-f]{2})/gi;
const NO_SEPARATOR = /^\/|(?<=\/)\/|\/$/g;

/** Below the chroot; the private nodes of sessions live there, outside of every queue. */
export const PRIVATE_DIRECTORY = '.queuelock';
const RESERVED: ReadonlySet<string> = new Set([PRIVATE_DIRECTORY, 'zookeeper']);

/**
 * The directory of a queue below `root` (`''` or `/chroot`).
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name that is empty, too long or not well-formed.
 */
export function queuePath(root: string, queue: string): string {
  if (typeof queue !== 'string' || queue === '')
    throw invalidArgument('name', queue, 'is a string that is not empty');
  if (/\p{Surrogate}/u.test(queue)) throw invalidArgument('name', queue, 'is well-formed Unicode');
  const escaped = [LIKE_AN_ESCAPE, REFUSED_BY_SERVER, NO_SEPARATOR].reduce(
    (text, what) => text.replace(what, percent),
    queue,
  );
  const path = `${root}/${escaped.split('/').map(encodeSegment).join('/')}`;
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  throw invalidArgument('name', queue, `takes at most ${MAX_PATH_BYTES} bytes as a path`);
}

/** Where holds of a queue leave their traces; see `traces.ts`. */
export function traceDirectory(root: string, queue: string): string {
  return `${root}/${PRIVATE_DIRECTORY}/held${queuePath('', queue)}`;
}

/** Where those wait who enter several queues at once; see `gate.ts`. */
export function gateDirectory(root: string): string {
  return `${root}/${PRIVATE_DIRECTORY}/gate`;
}

/** The node of a queue's register, with the whole name as one segment, and the gate of those who write to it. */
export function registerPaths(
  root: string,
  queue: string,
  kind: string,
): { readonly directory: string; readonly path: string; readonly gate: string } {
  const segment = queuePath('', queue).slice(1).replaceAll('/', '%2F');
  const directory = `${root}/${PRIVATE_DIRECTORY}/register/${kind}`;
  return {
    directory,
    path: `${directory}/${segment}`,
    gate: `${gateDirectory(root)}/${kind}/${segment}`,
  };
}

function encodeSegment(segment: string, index: number): string {
  const isSpecial = segment === '.' || segment === '..' || (index === 0 && RESERVED.has(segment));
  if (isSpecial) return segment.replace(/^./, percent);
  return CONTENDER.test(segment) ? segment.replace(/.$/, percent) : segment;
}

function percent(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

/** The protection that Curator puts before a node's name, here with the entry's id as its UUID. */
export function entryPrefix(id: string): string {
  return `_c_${id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}-`;
}

/** The name of a new entry; the server appends the sequence number. */
export function entryName({
  id,
  shared,
  limit,
  permits = 1,
}: Pick<EntrySpec, 'id' | 'shared' | 'limit' | 'permits'>): string {
  if (shared) return `${entryPrefix(id)}__READ__`;
  return `${entryPrefix(id)}${limit > 1 || permits > 1 ? `${permits}of${limit}-` : ''}lock-`;
}

/** The name of the reader that an exclusive entry of ours turns into: with the same number, so at the same place. */
export function readerOf(name: string): string {
  return name.replace(/(\d+of\d+-)?lock-(?=-?\d+$)/, '__READ__');
}

/** A child that stands in the queue. */
export interface Contender {
  readonly name: string;
  /** As the server appended it: a signed 32-bit number that wraps from 2147483647 to -2147483648. */
  readonly sequence: number;
  /** A `__READ__` entry; two of them do not conflict. */
  readonly shared: boolean;
  /** What an exclusive entry of ours says about itself; both are 1 if it says nothing. */
  readonly permits?: number;
  readonly limit?: number;
}

/** Reads a child's name; `undefined` for one that is no entry. */
export function parseContender(name: string): Contender | undefined {
  const [, kind, digits] = CONTENDER.exec(name) ?? [];
  const sequence = Number(digits);
  if (kind === undefined || sequence !== (sequence | 0)) return undefined;
  return { name, sequence, shared: kind === '__READ__', ...permitsIn(name) };
}

function permitsIn(name: string): Pick<Contender, 'permits' | 'limit'> {
  const [permits = 0, limit = 0] = (OUR_PERMITS.exec(name) ?? []).slice(1).map(Number);
  return permits >= 1 && permits <= limit && Number.isSafeInteger(limit) ? { permits, limit } : {};
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

/** The entries as they stand: a writer that turns into a reader is the reader as soon as that is there. */
export function standingIn(children: readonly string[]): Contender[] {
  const found = contendersIn(children);
  return found.filter(({ shared, sequence }, at) => {
    const next = found[at + 1];
    return shared || !next?.shared || next.sequence !== sequence;
  });
}

/** The entries ahead of `own` that conflict with it, nearest first. */
export function conflictsAhead(children: readonly string[], own: Contender): Contender[] {
  return contendersIn(children)
    .filter((other) => distance(other.sequence, own.sequence) > 0 && !(other.shared && own.shared))
    .reverse();
}

/** The limit of an exclusive entry ahead that is another than the one that `own` goes by; the nearest such one. */
export function otherLimitAhead(
  ahead: readonly Contender[],
  { own, limit }: { readonly own: Contender; readonly limit: number },
): number | undefined {
  if (own.shared) return undefined;
  return ahead
    .filter(({ shared }) => !shared)
    .map((entry) => entry.limit ?? 1)
    .find((other) => other !== limit);
}
