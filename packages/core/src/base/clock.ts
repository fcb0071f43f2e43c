// Chapter base: which tools know nothing of locks?
// Time and chance (clock, timer, backoff), the vocabulary of streams (rx) with what they lack, signals that look, JSON.

import { uptime } from 'node:os';

/** The one source of time in safety decisions. Milliseconds since an arbitrary start; never goes back. */
export interface Clock {
  /** Now, including the time during which the machine was suspended, where the platform can tell. */
  now(): number;
  /** Calls `task` once, `ms` from now or later; the answer cancels it. Late timers are harmless: decisions compare `now()`. */
  after(ms: number, task: () => void): () => void;
  /** From 0 up to 1: by this, pauses between attempts and heartbeats are spread. Default `Math.random`. */
  random?(): number;
}

/** The clocks of a machine, each in milliseconds since some start of its own. */
export interface MachineClocks {
  /** Stands still while the machine is suspended. */
  monotonic(): number;
  /** Goes on then, in steps of at most 10 ms. */
  boot(): number;
  /** Goes on then, and whoever runs the machine sets it. */
  wall(): number;
}

// The boot clock counts in steps of 10 ms; twice that keeps its rounding from ending a hold early.
const BOOT_CLOCK_GRAIN_MS = 20;
const WALL_CLOCK_GRAIN_MS = 2;
const LOOKS_EVERY_MS = 50;

const MACHINE: MachineClocks = {
  monotonic: () => performance.now(),
  boot: () => uptime() * 1000,
  // eslint-disable-next-line no-restricted-syntax -- only a reason to read the boot clock
  wall: () => Date.now(),
};

/**
 * The machine's clock: what the monotonic clock says has passed, or the boot clock if that says more.
 * The monotonic clock stands still while a machine sleeps, the server's lease does not. A virtual machine frozen by its
 * host may see no clock move at all: nothing local helps there, only the fencing token does.
 */
export function systemClock(): Clock {
  return {
    now: elapsedBy(MACHINE),
    after(ms, task) {
      const timer = setTimeout(task, ms);
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/**
 * Milliseconds since the call, suspensions included. On Linux the boot clock is a file, and to read it takes a hundred times as long as to
 * ask the other two. So it is read when the wall clock has gone on by more or less than the monotonic clock, as it does in a suspension, and
 * every 50 ms. To hide a suspension, somebody would have to set the wall clock back by just as much within those 50 ms.
 */
export function elapsedBy(clocks: MachineClocks): () => number {
  const start = { monotonic: clocks.monotonic(), boot: clocks.boot() };
  let looked = { monotonic: start.monotonic, wall: clocks.wall() };
  let suspendedMs = 0;
  return () => {
    const monotonic = clocks.monotonic();
    const wall = clocks.wall();
    const ranMs = monotonic - looked.monotonic;
    const apartMs = Math.abs(wall - looked.wall - ranMs);
    const runningMs = monotonic - start.monotonic;
    if (ranMs >= LOOKS_EVERY_MS || apartMs >= WALL_CLOCK_GRAIN_MS) {
      looked = { monotonic, wall };
      const bootMs = clocks.boot() - start.boot - BOOT_CLOCK_GRAIN_MS;
      suspendedMs = Math.max(suspendedMs, bootMs - runningMs);
    }
    return runningMs + suspendedMs;
  };
}
