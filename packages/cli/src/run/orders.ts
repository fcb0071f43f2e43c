import { uptime } from 'node:os';
import { KILL_MARGIN_MS, type Situation } from './action.ts';

/**
 * A moment on the machine's clocks, which all its processes share. The clock of `bootMs` also counts while
 * the machine sleeps, in steps of 10 ms.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly bootMs: number;
}

/**
 * Target of the watchdog: a process group, or, until the group is known, all processes with this mark
 * (`marked.ts`).
 */
export type WatchdogTarget = { readonly group: number } | { readonly mark: string };

/** What the watchdog does to the target unless it receives other orders before. */
export type Orders = WatchdogTarget & Deadlines;

/** Times at which the watchdog sends signals. */
interface Deadlines {
  readonly from: Moment;
  /**
   * Milliseconds from `from` until SIGTERM and SIGKILL. `graceMs` is the time between both if the process
   * that gave the orders dies.
   */
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
 * Returns the watchdog's orders for a situation. The watchdog sends SIGTERM when the guard would send it if
 * the hold stayed suspect. It sends SIGKILL a little later than the guard would, so that the guard acts if it
 * can. Both times are before the end of the hold.
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
    // The hold is not suspect, so the next heartbeat may extend it. The watchdog relies on that only while
    // the guard renews the orders.
    termInMs: suspect ? termInMs : Math.max(termInMs, Math.min(GUARD_TIMEOUT_MS, killInMs)),
    killInMs,
    graceMs,
  };
}

/** The next action of a watchdog whose orders were not renewed. */
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
