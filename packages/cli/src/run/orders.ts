import { uptime } from 'node:os';
import { KILL_MARGIN_MS, type Situation } from './action.ts';

/**
 * A moment on the machine's clocks, which all its processes share. The second clock also counts while the machine sleeps, in
 * steps of 10 ms.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly bootMs: number;
}

/** Target of the watchdog: a process group, or all processes with this mark (`marked.ts`) until the group is known. */
export type WatchdogTarget = { readonly group: number } | { readonly mark: string };

/** What the watchdog does unless it receives other orders before. */
export type Orders = WatchdogTarget & Deadlines;

/** Times of the signals. */
interface Deadlines {
  readonly from: Moment;
  /** Milliseconds from `from`. `graceMs` applies when the process that gives the orders dies. */
  readonly termInMs: number;
  readonly killInMs: number;
  readonly graceMs: number;
}

/** After this time without new orders the watchdog treats the guard as frozen, and does not wait for a suspect hold. */
export const GUARD_TIMEOUT_MS = 1_000;

const BOOT_CLOCK_GRAIN_MS = 20;

export function momentNow(): Moment {
  return { monotonicMs: Number(process.hrtime.bigint() / 1_000n) / 1_000, bootMs: uptime() * 1_000 };
}

/** Returns the time between two moments, including time in which the machine slept. */
export function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.monotonicMs - from.monotonicMs, to.bootMs - from.bootMs - BOOT_CLOCK_GRAIN_MS);
}

/**
 * Returns the watchdog's orders for a situation. SIGTERM is at the time when the guard would send it if the hold stayed suspect.
 * SIGKILL is a little after the guard's, so that the guard acts if it can. Both are before the end of the hold.
 */
export function ordersFor(
  target: WatchdogTarget,
  { remainingMs, suspect, graceMs }: Situation,
  from: Moment,
): Orders {
  const killInMs = Math.max(0, remainingMs - KILL_MARGIN_MS / 2);
  const termInMs = Math.max(0, killInMs - graceMs);
  return {
    ...target,
    from,
    // While the hold is not suspect, a heartbeat is in flight. That counts only while the guard renews the orders.
    termInMs: suspect ? termInMs : Math.max(termInMs, Math.min(GUARD_TIMEOUT_MS, killInMs)),
    killInMs,
    graceMs,
  };
}

/** What follows from orders that were not renewed. */
export type WatchdogAction =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'term' }
  | { readonly do: 'kill' };

export function watchdogAction(
  { termInMs, killInMs }: Deadlines,
  passed: number,
  termed: boolean,
): WatchdogAction {
  if (passed >= killInMs) return { do: 'kill' };
  if (!termed && passed >= termInMs) return { do: 'term' };
  return { do: 'wait', ms: (termed ? killInMs : Math.min(termInMs, killInMs)) - passed };
}
