import { readFile } from 'node:fs/promises';
import { descendantsOf } from '../clusters/machine-facts.ts';
import { isAlive } from '../services/process-facts.ts';
import { until } from '../services/until.ts';

/** Stops a process (SIGSTOP): its connections stay open, it does not respond. Resolves when it is stopped. */
export async function freeze(pid: number): Promise<void> {
  signal(pid, 'SIGSTOP');
  // A process in state Z has ended, and its parent has not collected its exit code. It counts as stopped too,
  // because a frozen parent cannot collect the exit code.
  await reached(pid, `process ${pid} stands still`, (state) => state === 'T' || state === 'Z');
}

/** Resumes a frozen process (SIGCONT). Resolves when it may run again. */
export async function thaw(pid: number): Promise<void> {
  signal(pid, 'SIGCONT');
  await reached(pid, `process ${pid} goes on`, (state) => state !== 'T');
}

/**
 * Freezes a process and all its descendants. Freezes the process first, so that it cannot start further
 * descendants.
 */
export async function freezeAll(pid: number): Promise<void> {
  await freeze(pid);
  await Promise.all(descendantsOf(pid).map((below) => freeze(below).catch(unlessGone(below))));
}

/** Resumes a process and all its descendants, after `freezeAll` has frozen them. */
export async function thawAll(pid: number): Promise<void> {
  await Promise.all(descendantsOf(pid).map((below) => thaw(below).catch(unlessGone(below))));
  await thaw(pid);
}

/** Returns an error handler that ignores the error of a signal to a process that has ended. */
function unlessGone(pid: number): (error: unknown) => void {
  return (error) => {
    if (isAlive(pid)) throw error;
  };
}

// Refuses 0 and negative numbers, with which kill() would send the signal to whole groups of processes.
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) {
    throw new TypeError(`pid: ${pid} is not the id of another process`);
  }
  process.kill(pid, name);
}

// Waits until the process has the state. The kernel delivers signals a little later than kill() returns; only Linux reports the state, so elsewhere
// this does not wait.
async function reached(pid: number, what: string, is: (state: string) => boolean): Promise<void> {
  if (process.platform !== 'linux') return;
  await until(
    async () => {
      const state = await processState(pid);
      if (!is(state)) throw new Error(`its state is ${state}`);
    },
    { what, withinMs: 5_000 },
  );
}

// Reads the state from /proc/PID/stat. It is the first letter after the program's name, which is in
// parentheses and may contain any character (proc(5)).
async function processState(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? '';
}
