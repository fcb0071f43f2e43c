import type { ClientClock } from './api.ts';

/**
 * The page's clock. It adds to the monotonic clock the time by which the time of day advanced further, because the monotonic
 * clock may stop during sleep. If a user sets the time of day forward, this clock stays ahead by that amount.
 */
export function pageClock(): ClientClock {
  const monotonicOrigin = performance.now();
  const wallOrigin = wallTime();
  let sleptMs = 0;
  return {
    now() {
      const monotonic = performance.now() - monotonicOrigin;
      sleptMs = Math.max(sleptMs, wallTime() - wallOrigin - monotonic);
      return monotonic + sleptMs;
    },
    after(ms, task) {
      const timer = setTimeout(task, ms);
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/** Milliseconds since 1970 by the clock of the page, for display only. */
export function wallTime(): number {
  // eslint-disable-next-line no-restricted-syntax -- on its own it decides nothing
  return Date.now();
}
