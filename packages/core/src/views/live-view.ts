import type { Clock } from '../base/clock.ts';
import { pauseAfter, type Growth } from '../base/jitter.ts';
import { catchError, concat, defer, map, of, repeat, type Observable } from '../base/rx.ts';
import { after } from '../base/timer.ts';

// Also for what is refused: a permission may be given later, and until then asking is a load for nothing.
const PAUSES: Growth = { firstMs: 500, mostMs: 5_000 };

/** What is known of something on the server. `trouble`: what went wrong last, while it cannot be seen. */
export type LiveView<T> =
  | { readonly status: 'connecting'; readonly trouble?: unknown }
  | { readonly status: 'live'; readonly value: T }
  /** The last known. */
  | { readonly status: 'stale'; readonly value: T; readonly trouble: unknown };

/** Observes, and observes again after trouble, which shows as `stale`; the longer it lasts, the longer the pauses. Never errors. */
export function liveView<T>(observe: () => Observable<T>, clock: Clock): Observable<LiveView<T>> {
  let last: LiveView<T> = { status: 'connecting' };
  let troubles = 0;
  const live$ = defer(observe).pipe(
    map((value) => {
      troubles = 0;
      return (last = { status: 'live', value });
    }),
    catchError((trouble: unknown) => of((last = troubled(last, trouble)))),
    repeat({ delay: () => after(clock, pauseAfter(troubles++, PAUSES, clock)) }),
  );
  return concat(of(last), live$);
}

function troubled<T>(last: LiveView<T>, trouble: unknown): LiveView<T> {
  return last.status === 'connecting'
    ? { ...last, trouble }
    : { status: 'stale', value: last.value, trouble };
}
