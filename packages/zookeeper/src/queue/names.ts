/**
 * How queues and entries are named.
 *
 * A queue is one directory. Its name is the path below the chroot without a leading slash, so `jobs/invoices` is what users of Curator call
 * `/jobs/invoices`. Only what a path cannot contain is percent-encoded, so plain names are unchanged. Decoding returns the name, so no two names
 * share a directory. The following parts of a name are encoded:
 *
 * - characters that ZooKeeper refuses (control characters, U+E000 to U+F8FF, U+FFF0 to U+FFFF, and all beyond U+FFFF, which includes emoji): each
 *   byte of their UTF-8 becomes `%XX`;
 * - `%` becomes `%25` where two hexadecimal digits follow;
 * - `/` becomes `%2F` at the start, at the end, and after another slash;
 * - the first character of the segments `.` and `..`, and of `.queuelock` and `zookeeper` as the first segment;
 * - the last digit of a segment that would be an entry of some kind (`marks.ts`).
 */
import { invalidArgument } from '@queuelock/core/backend';
import { resemblesEntry } from './marks.ts';

const MAX_PATH_BYTES = 4_096;
/** Characters that a path must not contain. The server's PathUtils.validatePath compares UTF-16 units and refuses all surrogates. */
export const REFUSED_BY_SERVER: RegExp = /[\p{Cc}\ue000-\uf8ff\ufff0-\uffff\u{10000}-\u{10ffff}]/gu;
const LIKE_AN_ESCAPE = /%(?=[0-9a-f]{2})/gi;
const NO_SEPARATOR = /^\/|(?<=\/)\/|\/$/g;

/** The directory below the chroot for the private nodes of sessions. It is outside of every queue. */
export const PRIVATE_DIRECTORY = '.queuelock';
const RESERVED: ReadonlySet<string> = new Set([PRIVATE_DIRECTORY, 'zookeeper']);

/**
 * Returns the directory of a queue below `root` (`''` or `/chroot`).
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
  throw invalidArgument('name', queue, `is at most ${MAX_PATH_BYTES} bytes as a path`);
}

/** Returns the directory for the traces of a queue's holds; see `traces.ts`. */
export function traceDirectory(root: string, queue: string): string {
  return `${root}/${PRIVATE_DIRECTORY}/held${queuePath('', queue)}`;
}

/** Returns the path of a session's private node, which heartbeats write to. */
export function privatePath(root: string, sessionId: string): string {
  return `${root}/${PRIVATE_DIRECTORY}/${sessionId}`;
}

/** Returns the directory of the gate, a queue that admits one client at a time to enter several queues; see `gate.ts`. */
export function gateDirectory(root: string): string {
  return `${root}/${PRIVATE_DIRECTORY}/gate`;
}

/**
 * Returns the path of a register's node, which contains the whole name of the queue as one segment. Also returns the directory of the
 * gate that admits one writer of the register at a time; see `gate.ts`.
 */
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
  return resemblesEntry(segment) ? segment.replace(/.$/, percent) : segment;
}

function percent(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

/** Returns whether the path is below queuelock's own directory. */
export function isOwnNode(root: string, path: string): boolean {
  return path.startsWith(`${root}/${PRIVATE_DIRECTORY}/`);
}

/** Returns the last segment of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
