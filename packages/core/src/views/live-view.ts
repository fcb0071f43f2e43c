import type { Clock } from '../base/clock.ts';
import { backoffDelay, type BackoffOptions } from '../base/backoff.ts';
import { catchError, concat, defer, map, of, repeat, type Observable } from '../base/rx.ts';
import { after } from '../base/timer.ts';

// Backoff between failed observations. It also applies when the store refuses a read: the permission may be
// granted later, and frequent retries would only add load.
const PAUSES: BackoffOptions = { initialDelayMs: 500, maxDelayMs: 5_000 };

/**
 * The last known state of a value in the store. `error` is the last failure, as long as the value cannot be
 * read.
 */
export type LiveView<T> =
  | { readonly status: 'connecting'; readonly error?: unknown }
  | { readonly status: 'live'; readonly value: T }
  /** The value cannot be read now; `value` is the last known one. */
  | { readonly status: 'stale'; readonly value: T; readonly error: unknown };

/**
 * Observes a value, and subscribes again after an error, with backoff. Emits `stale` until then. Never
 * errors.
 */
export function liveView<T>(observe: () => Observable<T>, clock: Clock): Observable<LiveView<T>> {
  let last: LiveView<T> = { status: 'connecting' };
  let failures = 0;
  const live$ = defer(observe).pipe(
    map((value) => {
      failures = 0;
      return (last = { status: 'live', value });
    }),
    catchError((failure: unknown) => of((last = withFailure(last, failure)))),
    repeat({ delay: () => after(clock, backoffDelay(failures++, PAUSES, clock)) }),
  );
  return concat(of(last), live$);
}

function withFailure<T>(last: LiveView<T>, error: unknown): LiveView<T> {
  return last.status === 'connecting' ? { ...last, error } : { status: 'stale', value: last.value, error };
}
