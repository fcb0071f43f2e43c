import type { Clock } from '@queuelock/core';
import { Observable } from './rx.ts';

/** The machine's clock, for what nobody's safety depends on. */
export const machineClock: Clock = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Emits once and completes, `ms` from the subscription or later. */
export function after(clock: Clock, ms: number): Observable<void> {
  return new Observable((subscriber) =>
    clock.after(ms, () => {
      subscriber.next();
      subscriber.complete();
    }),
  );
}
