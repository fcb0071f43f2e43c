import { uptime } from 'node:os';
import { startTimeTicks } from './machine.ts';

/** What this process can observe of its clock. Times are in seconds. */
export interface ClockEvidence {
  /** The name of the runtime, if it is one that starts its clock with each process, such as Bun. */
  readonly runtime: 'Bun' | 'Deno' | undefined;
  /** The value of `process.hrtime` when the process started. */
  readonly clockAtStart: number;
  /** The uptime of the machine when the process started, including time of suspension. */
  readonly machineAtStart: number;
}

/**
 * If the clock of a new process shows less than this many seconds, it may have started with the process. A clock that does so shows more than 0,
 * since Node reads it some milliseconds after the start, or later on a busy machine.
 */
const NEAR_ZERO_S = 0.5;
/**
 * When the machine has run for at least this many seconds, its clock cannot show nearly 0. So a clock that shows nearly 0 is one that started with
 * the process.
 */
const MIN_UPTIME_S = 5;
/** The unit in which Linux reports the times of processes, on every architecture. */
const TICKS_PER_S = 100;

/**
 * Decides whether `process.hrtime` is the clock of the machine, and not a clock that started with the process. It compares the values at the start of
 * the process, so suspensions of the machine after that do not matter.
 * @returns a description of the fault; `undefined` if there is none
 */
export function clockFault({ runtime, clockAtStart, machineAtStart }: ClockEvidence): string | undefined {
  if (runtime !== undefined)
    return `${runtime} gives each process its own monotonic clock; run this program on Node`;
  if (clockAtStart < NEAR_ZERO_S && machineAtStart > MIN_UPTIME_S)
    return 'process.hrtime started near 0 in this process, so it is not the clock of the machine; run this program on Node, and do not replace process.hrtime';
  return undefined;
}

/** Returns what this process observes of its clock. */
export function clockEvidence(): ClockEvidence {
  const { bun, deno } = process.versions as { readonly bun?: string; readonly deno?: string };
  const lived = process.uptime();
  const ticks = startTimeTicks();
  return {
    runtime: bun !== undefined ? 'Bun' : deno !== undefined ? 'Deno' : undefined,
    clockAtStart: Number(process.hrtime.bigint()) / 1e9 - lived,
    machineAtStart: ticks === undefined ? uptime() - lived : ticks / TICKS_PER_S,
  };
}
