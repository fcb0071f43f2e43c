// The folder base answers: which tools are independent of SQLite?
// machine.ts (this file) identifies boots and processes; polling.ts repeats reads; text.ts encodes strings as bytes; rx.ts names what is used of
// RxJS.

import { readFileSync, readlinkSync } from 'node:fs';

/** Returns the id of this boot of the machine. Leases of an earlier boot are invalid. Empty if the system does not report it. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/**
 * Returns the machine's monotonic clock in microseconds. It is the same for all processes of a boot; `clockFault` checks that. It stops
 * while the machine is suspended, when no process could renew. The core's clock continues meanwhile, so a holder never trusts its hold
 * longer than the file does.
 */
export function machineTime(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Returns whether this process has a monotonic clock of its own. It cannot compare times with other processes then. */
export function hasOwnClock(): boolean {
  const offsets = /^monotonic\s+(-?\d+)\s+(-?\d+)/m.exec(textOf('/proc/self/timens_offsets') ?? '');
  return offsets !== null && offsets.slice(1).some((part) => Number(part) !== 0);
}

/** Identifies a process so that it is not mistaken for a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** The start time of the process, in ticks since the boot; empty if the system does not report it. */
  readonly started: string;
  /** The namespace of the pid; empty if the system does not report it. The pid proves nothing then. */
  readonly namespace: string;
}

/** Returns the mark of this process. */
export function ownMark(): ProcessMark {
  const { pid } = process;
  return { pid, started: statOf(pid)?.started ?? '', namespace: linkOf('/proc/self/ns/pid') };
}

/** Returns the start time of this process, in ticks since the boot; `undefined` if the system does not report it. */
export function startTimeTicks(): number | undefined {
  const started = statOf(process.pid)?.started;
  return started === undefined || !/^\d+$/.test(started) ? undefined : Number(started);
}

/** Returns whether the process has certainly ended, as far as `own` can see. A zombie has ended: it runs no code. */
export function hasEnded(
  { pid, started, namespace }: ProcessMark,
  own: Pick<ProcessMark, 'namespace'>,
): boolean {
  if (namespace === '' || namespace !== own.namespace) return false;
  const stat = statOf(pid);
  if (stat) return stat.state === 'Z' || stat.state === 'X' || (started !== '' && stat.started !== started);
  // `/proc` may hide the processes of other users, but a signal still shows whether they exist.
  return !exists(pid);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Reads fields 3 and 22 of `/proc/PID/stat`. The second field, the name in parentheses, may contain spaces. */
function statOf(pid: number): { readonly state: string; readonly started: string } | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const [state = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state, started: rest[18] ?? '' };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // `/proc` is missing or hidden on this system. The callers handle `undefined`.
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // `/proc` is missing or hidden on this system. The callers handle an empty string.
  }
}
