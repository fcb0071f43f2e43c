// Chapter base: which tools know nothing of SQLite?
// Which boot of which machine this is (here), looks from time to time (rounds), texts as bytes (text), streams (rx).

import { readFileSync, readlinkSync } from 'node:fs';

/** Which boot of which machine: leases of an earlier one are worth nothing. Empty where the system does not tell. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/**
 * The machine's monotonic clock in microseconds: one and the same for all processes of a boot (`clockFault` checks that). It stands still while the machine is
 * suspended, when nobody could renew; the core's clock goes on then, so a holder never believes in its hold for longer than the file does.
 */
export function machineTime(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Whether this process has a monotonic clock of its own: it then cannot compare times with the others. */
export function hasOwnClock(): boolean {
  const offsets = /^monotonic\s+(-?\d+)\s+(-?\d+)/m.exec(textOf('/proc/self/timens_offsets') ?? '');
  return offsets !== null && offsets.slice(1).some((part) => Number(part) !== 0);
}

/** A process, so that it is not mistaken for a later one with the same number. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, in ticks since the boot; empty where the system does not tell. */
  readonly started: string;
  /** In which namespace the number counts; empty where the system does not tell, and then nothing is judged by the number. */
  readonly namespace: string;
}

/** This process. */
export function ownMark(): ProcessMark {
  const { pid } = process;
  return { pid, started: statOf(pid)?.started ?? '', namespace: linkOf('/proc/self/ns/pid') };
}

/** When this process began, in ticks since the boot; `undefined` where the system does not show it. */
export function startedTicks(): number | undefined {
  const started = statOf(process.pid)?.started;
  return started === undefined || !/^\d+$/.test(started) ? undefined : Number(started);
}

/** Whether that process has certainly ended, as far as `own` can see. A zombie has: it runs nothing any more. */
export function isGone(
  { pid, started, namespace }: ProcessMark,
  own: Pick<ProcessMark, 'namespace'>,
): boolean {
  if (namespace === '' || namespace !== own.namespace) return false;
  const stat = statOf(pid);
  if (stat) return stat.state === 'Z' || stat.state === 'X' || (started !== '' && stat.started !== started);
  // `/proc` may hide the processes of other users; a signal tells all the same.
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

/** Fields 3 and 22 of `/proc/PID/stat`; the second one, the name in parentheses, may have blanks. */
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
    return undefined; // Not Linux, or not to be seen: the callers have an answer for that.
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // Likewise.
  }
}
