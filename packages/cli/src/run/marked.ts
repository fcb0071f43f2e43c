import { readFileSync, readdirSync } from 'node:fs';

const VARIABLE = 'QUEUELOCK_MARK';

/**
 * Returns an environment variable with a random text for a command. The watchdog finds the command by it
 * while it does not know the command's process group.
 */
export function marking(mark: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: mark };
}

/**
 * Returns the ids of the process groups of all processes whose environment variable QUEUELOCK_MARK is `mark`.
 * Returns none on systems without `/proc`.
 */
export function groupsMarked(mark: string): readonly number[] {
  const wanted = `${VARIABLE}=${mark}`;
  const processes = entriesOf('/proc').filter((name) => /^\d+$/.test(name));
  const marked = processes.filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(wanted));
  const groups = marked.map((pid) => groupIn(textOf(`/proc/${pid}/stat`)));
  return [...new Set(groups)].filter((group) => group > 1);
}

/**
 * Returns the process group from the text of `/proc/PID/stat`, where it is field 5. Field 2, the program's
 * name in parentheses, may contain blanks.
 */
function groupIn(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Only Linux has `/proc`.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // The read failed, because the process has ended or belongs to another user.
  }
}
