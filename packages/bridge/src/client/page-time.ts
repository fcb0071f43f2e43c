import type { ClientClock } from './api.ts';

/**
 * The page's clock. The monotonic clock may stop while the machine sleeps. So this clock adds the time by
 * which the time of day advanced further than the monotonic clock. If a user sets the time of day forward,
 * this clock stays ahead by that amount.
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

/** Returns the time in milliseconds since 1970 by the clock of the page. For display only. */
export function wallTime(): number {
  // eslint-disable-next-line no-restricted-syntax -- the time of day is only displayed
  return Date.now();
}
