import { uptime } from 'node:os';

/** The one source of time in safety decisions. Milliseconds since an arbitrary start; never goes back. */
export interface Clock {
  /** Now, including the time during which the machine was suspended, where the platform can tell. */
  now(): number;
  /** Calls `task` once, `ms` from now or later; the answer cancels it. Late timers are harmless: decisions compare `now()`. */
  after(ms: number, task: () => void): () => void;
}

// The boot clock counts in steps of 10 ms; twice that keeps its rounding from ending a hold early.
const BOOT_CLOCK_GRAIN_MS = 20;

/**
 * The machine's clock: the larger of what the monotonic clock and the boot clock say has passed.
 * The monotonic clock stands still while a machine sleeps, the server's lease does not. A virtual machine frozen by its
 * host may see no clock move at all: nothing local helps there, only the fencing token does.
 */
export function systemClock(): Clock {
  const bootOrigin = uptime() * 1000;
  const monotonicOrigin = performance.now();
  let latest = 0;
  return {
    now() {
      const monotonic = performance.now() - monotonicOrigin;
      const boot = uptime() * 1000 - bootOrigin - BOOT_CLOCK_GRAIN_MS;
      latest = Math.max(latest, monotonic, boot);
      return latest;
    },
    after(ms, task) {
      const timer = setTimeout(task, ms);
      return () => {
        clearTimeout(timer);
      };
    },
  };
}
