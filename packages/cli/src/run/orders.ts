import { uptime } from 'node:os';
import { KILL_MARGIN_MS, type Situation } from './action.ts';

/**
 * A moment on two clocks that all processes of the machine share. `monotonicMs` stops while the machine
 * sleeps. `bootMs` continues, with a resolution of 10 ms.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly bootMs: number;
}

/**
 * The processes that the watchdog signals: a process group, or, while the group is unknown, all processes
 * with a certain variable in their environment (`marked.ts`).
 */
export type WatchdogTarget = { readonly group: number } | { readonly mark: string };

/**
 * Instructions to the watchdog. It follows them unless the guard replaces them before. The guard is the code
 * in `queuelock run` that watches the hold.
 */
export type Orders = WatchdogTarget & Deadlines;

/** The moments at which the watchdog sends SIGTERM and SIGKILL, relative to `from`. */
interface Deadlines {
  readonly from: Moment;
  /**
   * Milliseconds from `from` until the watchdog sends SIGTERM and SIGKILL. If the guard dies, the watchdog
   * sends SIGTERM at once, and SIGKILL at most `graceMs` later.
   */
  readonly termInMs: number;
  readonly killInMs: number;
  readonly graceMs: number;
}

/**
 * After this many milliseconds without new orders the watchdog treats the guard as frozen. Then it no longer
 * waits for a heartbeat to be overdue before it sends SIGTERM.
 */
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
 * Returns the watchdog's orders for the current state of the hold, assuming that no further heartbeat
 * succeeds. The watchdog sends SIGTERM and SIGKILL half of `KILL_MARGIN_MS` later than the guard would, so
 * that the guard acts first if it can. Both times are before the end of the hold.
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
    // No heartbeat is overdue, so the next one may extend the hold. The watchdog relies on that only while
    // the guard renews the orders.
    termInMs: suspect ? termInMs : Math.max(termInMs, Math.min(GUARD_TIMEOUT_MS, killInMs)),
    killInMs,
    graceMs,
  };
}

/** What the watchdog does next if the guard sends no new orders. */
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
