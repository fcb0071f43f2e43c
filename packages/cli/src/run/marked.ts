import { readFileSync, readdirSync } from 'node:fs';

const VARIABLE = 'QUEUELOCK_MARK';

/** Returns the environment variable by which a command can be found before its process group is known. */
export function marking(mark: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: mark };
}

/**
 * Returns the groups of the processes that have this mark in their environment. Returns none on systems
 * without `/proc`.
 */
export function groupsMarked(mark: string): readonly number[] {
  const wanted = `${VARIABLE}=${mark}`;
  const processes = entriesOf('/proc').filter((name) => /^\d+$/.test(name));
  const marked = processes.filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(wanted));
  const groups = marked.map((pid) => groupIn(textOf(`/proc/${pid}/stat`)));
  return [...new Set(groups)].filter((group) => group > 1);
}

/**
 * Returns the process group, which is field 5 of `/proc/PID/stat`. The second field, the name in parentheses,
 * may contain blanks.
 */
function groupIn(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Systems other than Linux have no `/proc`.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // The process has ended, or belongs to another user.
  }
}
