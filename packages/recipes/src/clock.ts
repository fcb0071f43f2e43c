import type { Clock } from '@queuelock/core';

/** The machine's monotonic clock, for delays that no safety property depends on. */
export const machineClock: Clock = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
