import type { Clock } from './clock.ts';
import { Observable } from './rx.ts';

/** Emits once and completes, `ms` from the subscription or later. */
export function after(clock: Clock, ms: number): Observable<void> {
  return new Observable((subscriber) =>
    clock.after(ms, () => {
      subscriber.next();
      subscriber.complete();
    }),
  );
}
