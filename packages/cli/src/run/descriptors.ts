import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Returns the file descriptors above 2 that a child process would inherit unintentionally. Node marks all of
 * its descriptors as close-on-exec, but the npm package zookeeper does not mark its sockets. If a child
 * inherits such a socket, the server does not notice when the parent closes it. Returns no descriptors on
 * systems without `/proc`.
 */
function strayDescriptors(): number[] {
  return namesIn('/proc/self/fd').map(Number).filter(isStray);
}

/**
 * Calls `start`, which starts a child process, so that the child inherits no unintended descriptor. `rest` is
 * the part of the `stdio` option for the descriptors above 2.
 */
export function withoutStrays<T>(start: (rest: ('ignore' | number)[]) => T): T {
  const nothing = openSync('/dev/null', 'r+');
  try {
    return start(restWithout(strayDescriptors(), nothing));
  } finally {
    closeSync(nothing);
  }
}

/**
 * Returns the `stdio` option for the file descriptors from 3 on. In place of each descriptor in `strays`, the
 * child process gets `nothing`, a descriptor of `/dev/null`.
 */
export function restWithout(strays: readonly number[], nothing: number): ('ignore' | number)[] {
  const length = Math.max(2, ...strays) - 2;
  return Array.from({ length }, (_, at) => (strays.includes(at + 3) ? nothing : 'ignore'));
}

function isStray(fd: number): boolean {
  if (fd <= 2) return false;
  const flags = /^flags:\s*([0-7]+)/m.exec(contentOf(`/proc/self/fdinfo/${String(fd)}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Only Linux has the directory /proc/self/fd.
  }
}

/**
 * Returns the text of a file in `/proc` about a descriptor. Returns an empty text when the descriptor was
 * closed meanwhile. That is always so for the descriptor with which the directory was listed.
 */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
