import type { Clock } from './clock.ts';
import { Observable } from './rx.ts';

/** Emits once and completes, at least `ms` milliseconds after the subscription. */
export function after(clock: Clock, ms: number): Observable<void> {
  return new Observable((subscriber) =>
    clock.after(ms, () => {
      subscriber.next();
      subscriber.complete();
    }),
  );
}
