import type { Clock } from '@queuelock/core';

/** The machine's clock, for what nobody's safety depends on. */
export const machineClock: Clock = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
