// Folder "base": contains general-purpose tools that are independent of locks.
// clock.ts (this file), timer.ts and backoff.ts deal with time and randomness. rx.ts exports the RxJS operators in use. checked-signal.ts
// creates abort signals that are checked on read. jsonable.ts and parsed.ts convert to JSON and from it.

import { uptime } from 'node:os';

/** The only source of time in safety decisions, in milliseconds since an arbitrary start. Never goes back. */
export interface Clock {
  /** Returns the current time, including time during which the machine was suspended, where the platform reports it. */
  now(): number;
  /**
   * Calls `task` once, after at least `ms` milliseconds. A late timer is harmless, because all decisions compare `now()` with a deadline.
   * @returns a function that cancels the call
   */
  after(ms: number, task: () => void): () => void;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive), used to jitter retries and heartbeats. Default `Math.random`. */
  random?(): number;
}

/** The clocks of a machine, each in milliseconds since its own start. */
export interface MachineClocks {
  /** Monotonic clock; stops while the machine is suspended. */
  monotonic(): number;
  /** Boot clock; includes suspension, in steps of at most 10 ms, or of 1 s on macOS. */
  boot(): number;
  /** Wall clock; includes suspension, but can be set by the administrator or NTP. */
  wall(): number;
}

// Two steps of 10 ms of the boot clock, in milliseconds. They are subtracted from the time that has elapsed on the boot clock. Otherwise its rounding
// would be taken for a suspension, which would end a hold early.
export const BOOT_CLOCK_GRAIN_MS = 20;
const WALL_CLOCK_GRAIN_MS = 2;
// Longest time that `setTimeout` accepts, almost 25 days. It fires at once for a longer time.
const MAX_TIMER_MS = 2_147_483_647;
const CHECK_INTERVAL_MS = 50;

const MACHINE: MachineClocks = {
  monotonic: () => performance.now(),
  boot: () => uptime() * 1000,
  // eslint-disable-next-line no-restricted-syntax -- only a reason to read the boot clock
  wall: () => Date.now(),
};

/**
 * Creates the machine's clock: the time elapsed on the monotonic clock or on the boot clock, whichever is longer. The monotonic clock stops while a
 * machine sleeps; the server's lease does not. In a virtual machine that its host has frozen, both clocks may stop. Nothing local helps there; only
 * the fencing token does.
 */
export function systemClock(): Clock {
  return {
    now: elapsedBy(MACHINE),
    after(ms, task) {
      const timer = setTimeout(task, Math.min(ms, MAX_TIMER_MS));
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/**
 * Returns a function for the milliseconds since this call, including suspensions. On Linux the boot clock is a file, and reading it takes a hundred
 * times as long as reading the other clocks. So it is read every 50 ms, and whenever wall clock and monotonic clock differ, as after a suspension. A
 * suspension stays hidden only if the wall clock is set back by the same time within those 50 ms.
 */
export function elapsedBy(clocks: MachineClocks): () => number {
  const start = { monotonic: clocks.monotonic(), boot: clocks.boot() };
  let lastRead = { monotonic: start.monotonic, wall: clocks.wall() };
  let suspendedMs = 0;
  return () => {
    const monotonic = clocks.monotonic();
    const wall = clocks.wall();
    const ranMs = monotonic - lastRead.monotonic;
    const apartMs = Math.abs(wall - lastRead.wall - ranMs);
    const runningMs = monotonic - start.monotonic;
    if (ranMs >= CHECK_INTERVAL_MS || apartMs >= WALL_CLOCK_GRAIN_MS) {
      lastRead = { monotonic, wall };
      const bootMs = clocks.boot() - start.boot - BOOT_CLOCK_GRAIN_MS;
      suspendedMs = Math.max(suspendedMs, bootMs - runningMs);
    }
    return runningMs + suspendedMs;
  };
}
