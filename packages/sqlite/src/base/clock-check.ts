import { uptime } from 'node:os';
import { startedTicks } from './machine.ts';

/** What this process can see of its clock. Times in seconds. */
export interface ClockEvidence {
  /** A runtime that is known to start its clock with each process. */
  readonly runtime: 'Bun' | 'Deno' | undefined;
  /** What `process.hrtime` showed when the process began. */
  readonly clockAtStart: number;
  /** How long the machine had run when the process began, time of suspension included. */
  readonly machineAtStart: number;
}

/** Node starts its own clock some milliseconds after `process.hrtime` could show 0; a busy machine takes longer. */
const ZERO_S = 0.5;
/** The machine had run for so long: its own clock cannot be near 0 then. */
const BOOTED_S = 5;
/** Linux shows times of processes in this unit on every architecture. */
const TICKS_PER_S = 100;

/**
 * Decides whether `process.hrtime` is the clock of the machine. Both times are of the beginning of the process, so no suspension after it
 * matters; a suspension before it leaves the clock far above 0, since the machine was awake before.
 * @returns What is wrong, `undefined` when nothing is.
 */
export function clockFault({ runtime, clockAtStart, machineAtStart }: ClockEvidence): string | undefined {
  if (runtime !== undefined)
    return `${runtime} gives each process a monotonic clock of its own; run this program on Node`;
  if (clockAtStart < ZERO_S && machineAtStart > BOOTED_S)
    return 'process.hrtime began near 0 in this process, so it is not the clock of the machine; run this program on Node, and do not replace process.hrtime';
  return undefined;
}

/** The evidence of this process. */
export function clockEvidence(): ClockEvidence {
  const { bun, deno } = process.versions as { readonly bun?: string; readonly deno?: string };
  const lived = process.uptime();
  const ticks = startedTicks();
  return {
    runtime: bun !== undefined ? 'Bun' : deno !== undefined ? 'Deno' : undefined,
    clockAtStart: Number(process.hrtime.bigint()) / 1e9 - lived,
    machineAtStart: ticks === undefined ? uptime() - lived : ticks / TICKS_PER_S,
  };
}
