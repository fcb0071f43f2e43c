import type { ClientClock } from './api.ts';

/**
 * The page's clock: what the monotonic clock says has passed, and what the time of day says besides, since the former may stand still during
 * sleep. Somebody may set the time of day: once it was ahead, this clock stays ahead by that, and goes on.
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

/** Milliseconds since 1970 by the clock of the page, for people. */
export function wallTime(): number {
  // eslint-disable-next-line no-restricted-syntax -- on its own it decides nothing
  return Date.now();
}
