import type { Clock } from '../base/clock.ts';
import { backoffDelay, type BackoffOptions } from '../base/backoff.ts';
import { catchError, concat, defer, map, of, repeat, type Observable } from '../base/rx.ts';
import { after } from '../base/timer.ts';

// Backoff between failed observations, refusals included: a permission may be granted later, and until then retries only add load.
const PAUSES: BackoffOptions = { initialDelayMs: 500, maxDelayMs: 5_000 };

/** The last known state of a value on the server. `error`: the last failure, while the value cannot be read. */
export type LiveView<T> =
  | { readonly status: 'connecting'; readonly error?: unknown }
  | { readonly status: 'live'; readonly value: T }
  /** The value cannot be read at present: its last known state. */
  | { readonly status: 'stale'; readonly value: T; readonly error: unknown };

/** Observes a value and resubscribes after errors, with backoff. Emits `stale` meanwhile. Never errors. */
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
