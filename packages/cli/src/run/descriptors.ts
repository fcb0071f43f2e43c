import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Returns the descriptors above 2 that a child would inherit unintentionally. Node marks all of its
 * descriptors as close-on-exec, but the npm package zookeeper does not mark its sockets. A connection that a
 * child keeps open never looks closed to the server. The list is empty on systems without `/proc`.
 */
function strayDescriptors(): number[] {
  return namesIn('/proc/self/fd').map(Number).filter(isStray);
}

/** Starts a process without the stray descriptors. `rest` specifies its descriptors above 2. */
export function withoutStrays<T>(start: (rest: ('ignore' | number)[]) => T): T {
  const nothing = openSync('/dev/null', 'r+');
  try {
    return start(restWithout(strayDescriptors(), nothing));
  } finally {
    closeSync(nothing);
  }
}

/** Returns the entry for each descriptor of a child from 3 on: `nothing` in place of the strays. */
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
    return []; // Systems other than Linux have no such directory.
  }
}

/**
 * Returns the target of a descriptor. The result is empty for one that was closed meanwhile, such as that of
 * the directory listing itself.
 */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
