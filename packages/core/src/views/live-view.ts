import type { Clock } from '../base/clock.ts';
import { backoffDelay, type BackoffOptions } from '../base/backoff.ts';
import { catchError, concat, defer, map, of, repeat, type Observable } from '../base/rx.ts';
import { after } from '../base/timer.ts';

// Also for what is refused: a permission may be given later, and until then asking is a load for nothing.
const PAUSES: BackoffOptions = { initialDelayMs: 500, maxDelayMs: 5_000 };

/** What is known of something on the server. `error`: what went wrong last, while it cannot be seen. */
export type LiveView<T> =
  | { readonly status: 'connecting'; readonly error?: unknown }
  | { readonly status: 'live'; readonly value: T }
  /** The last known. */
  | { readonly status: 'stale'; readonly value: T; readonly error: unknown };

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
    repeat({ delay: () => after(clock, backoffDelay(troubles++, PAUSES, clock)) }),
  );
  return concat(of(last), live$);
}

function troubled<T>(last: LiveView<T>, error: unknown): LiveView<T> {
  return last.status === 'connecting' ? { ...last, error } : { status: 'stale', value: last.value, error };
}
