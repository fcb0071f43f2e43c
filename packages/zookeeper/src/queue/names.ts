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
 * - the last digit of a segment that would be an entry of some kind (`marks.ts`).
 */
import { invalidArgument } from '@queuelock/core/backend';
import { looksLikeEntry } from './marks.ts';

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

/** The node of a session, on which its heartbeats are written. */
export function privatePath(root: string, sessionId: string): string {
  return `${root}/${PRIVATE_DIRECTORY}/${sessionId}`;
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
  return looksLikeEntry(segment) ? segment.replace(/.$/, percent) : segment;
}

function percent(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

/** Whether the path is below the directory that queuelock keeps for itself. */
export function isOwnNode(root: string, path: string): boolean {
  return path.startsWith(`${root}/${PRIVATE_DIRECTORY}/`);
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
