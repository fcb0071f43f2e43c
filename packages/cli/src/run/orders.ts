import { uptime } from 'node:os';
import { KILL_MARGIN_MS, type Situation } from './action.ts';

/** A moment on the machine's clocks, which all its processes share. The second one goes on while the machine sleeps, in steps of 10 ms. */
export interface Moment {
  readonly monotonicMs: number;
  readonly bootMs: number;
}

/** Whom the watchdog is to end: a process group, or, before its number is known, whoever was started with this mark (`marked.ts`). */
export type Quarry = { readonly group: number } | { readonly mark: string };

/** What it is to do unless it hears something else before. */
export type Orders = Quarry & Deadlines;

/** When. */
interface Deadlines {
  readonly from: Moment;
  /** Counted from `from`; with a `graceMs` of its own for the case that whoever gives the orders dies. */
  readonly termInMs: number;
  readonly killInMs: number;
  readonly graceMs: number;
}

/** After that time without another look, whoever gives the orders counts as frozen, and doubt is not waited for. */
export const SILENT_AFTER_MS = 1_000;

const BOOT_CLOCK_GRAIN_MS = 20;

export function momentNow(): Moment {
  return { monotonicMs: Number(process.hrtime.bigint() / 1_000n) / 1_000, bootMs: uptime() * 1_000 };
}

/** What has passed between two moments, the time included in which the machine slept. */
export function passedMs(from: Moment, to: Moment): number {
  return Math.max(to.monotonicMs - from.monotonicMs, to.bootMs - from.bootMs - BOOT_CLOCK_GRAIN_MS);
}

/**
 * The orders that go with a situation: TERM where the guard would give it if the hold stayed in doubt, KILL where the guard would have
 * killed, and a little later, so that it is the guard that acts when it can. Always before the end of the hold.
 */
export function ordersFor(
  quarry: Quarry,
  { remainingMs, suspect, graceMs }: Situation,
  from: Moment,
): Orders {
  const killInMs = Math.max(0, remainingMs - KILL_MARGIN_MS / 2);
  const termInMs = Math.max(0, killInMs - graceMs);
  return {
    ...quarry,
    from,
    // Without doubt a heartbeat is on its way; that counts for as long as somebody looks.
    termInMs: suspect ? termInMs : Math.max(termInMs, Math.min(SILENT_AFTER_MS, killInMs)),
    killInMs,
    graceMs,
  };
}

/** What follows from orders that nobody has renewed. */
export type Deed =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'term' }
  | { readonly do: 'kill' };

export function deedOf({ termInMs, killInMs }: Deadlines, passed: number, termed: boolean): Deed {
  if (passed >= killInMs) return { do: 'kill' };
  if (!termed && passed >= termInMs) return { do: 'term' };
  return { do: 'wait', ms: (termed ? killInMs : Math.min(termInMs, killInMs)) - passed };
}
