import { readFileSync, readdirSync } from 'node:fs';

const VARIABLE = 'QUEUELOCK_MARK';

/** For the environment of a command, so that it can be found before its number was told. */
export function marking(mark: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: mark };
}

/** The groups of the processes that have this mark in their environment; none where the system has no `/proc`. */
export function groupsMarked(mark: string): readonly number[] {
  const wanted = `${VARIABLE}=${mark}`;
  const processes = entriesOf('/proc').filter((name) => /^\d+$/.test(name));
  const marked = processes.filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(wanted));
  const groups = marked.map((pid) => groupIn(textOf(`/proc/${pid}/stat`)));
  return [...new Set(groups)].filter((group) => group > 1);
}

/** Field 5 of `/proc/PID/stat`; the second one, the name in parentheses, may have blanks. */
function groupIn(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Not Linux.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // Ended meanwhile, or somebody else's.
  }
}
