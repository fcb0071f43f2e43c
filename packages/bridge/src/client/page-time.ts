import type { ClientClock } from './api.ts';

/** The page's clock: the larger of what the monotonic clock and the time of day say has passed, since the former may stand still during sleep. */
export function pageClock(): ClientClock {
  const monotonicOrigin = performance.now();
  const wallOrigin = wallTime();
  let latest = 0;
  return {
    now() {
      latest = Math.max(latest, performance.now() - monotonicOrigin, wallTime() - wallOrigin);
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

/** Milliseconds since 1970 by the clock of the page, for people. */
export function wallTime(): number {
  // eslint-disable-next-line no-restricted-syntax -- on its own it decides nothing
  return Date.now();
}
