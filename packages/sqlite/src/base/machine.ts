// Folder "base": contains general-purpose tools that are independent of SQLite.
// machine.ts (this file) identifies boots and processes. clock-check.ts checks the machine's clock. poller.ts polls the file. text.ts
// encodes strings as bytes. rx.ts exports the names that are imported from RxJS.

import { readFileSync, readlinkSync } from 'node:fs';

/** Returns an id of this boot of the machine; empty if the system does not report one. Leases of an earlier boot are invalid. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/**
 * Returns the machine's monotonic clock in microseconds. All processes of a boot read the same clock; `clockFault` checks that. This clock stops
 * while the machine is suspended, so leases in the file do not expire meanwhile. The clock of the core, which ends holds, continues. So a holder
 * never relies on its hold for longer than the lease lasts.
 */
export function machineTime(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/**
 * Returns whether this process runs in a time namespace whose monotonic clock differs from that of the machine. Such a process cannot compare its
 * times with those of other processes.
 */
export function hasOwnClock(): boolean {
  const offsets = /^monotonic\s+(-?\d+)\s+(-?\d+)/m.exec(textOf('/proc/self/timens_offsets') ?? '');
  return offsets !== null && offsets.slice(1).some((part) => Number(part) !== 0);
}

/** What identifies a process, so that it is not mistaken for a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** The start time of the process, in ticks since the boot; empty if the system does not report it. */
  readonly started: string;
  /**
   * The namespace of the pid, such as that of a container. Empty if the system does not report it; then the pid does not identify the
   * process.
   */
  readonly namespace: string;
}

/** Returns what identifies the process that runs this code. */
export function ownMark(): ProcessMark {
  const { pid } = process;
  return { pid, started: statOf(pid)?.started ?? '', namespace: linkOf('/proc/self/ns/pid') };
}

/** Returns the start time of this process, in ticks since the boot; `undefined` if the system does not report it. */
export function startTimeTicks(): number | undefined {
  const started = statOf(process.pid)?.started;
  return started === undefined || !/^\d+$/.test(started) ? undefined : Number(started);
}

/**
 * Returns whether a process has certainly ended. Returns `false` for a process of another pid namespace than that of this process (`own`), since this
 * process cannot see it. A zombie counts as ended, since it runs no code.
 */
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

/**
 * Reads the state and the start time of a process, fields 3 and 22 of `/proc/PID/stat`. Field 2, the name in
 * parentheses, may contain spaces.
 */
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
    return undefined; // The file in `/proc` is missing or hidden. The callers of `textOf` handle `undefined`.
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // The link in `/proc` is missing or hidden. The callers of `linkOf` handle an empty string.
  }
}
