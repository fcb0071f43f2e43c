import type { Clock } from './clock.ts';
import { catchError, concat, defer, map, of, repeat, type Observable } from './rx.ts';
import { after } from './timer.ts';

const RETRY_MS = 500;

/** What is known of something on the server. */
export type LiveView<T> =
  | { readonly status: 'connecting' }
  /** `stale`: the last known, while the server cannot be reached. */
  | { readonly status: 'live' | 'stale'; readonly value: T };

/** Observes, and observes again after trouble, which shows as `stale`. Never errors. */
export function liveView<T>(observe: () => Observable<T>, clock: Clock): Observable<LiveView<T>> {
  let last: LiveView<T> = { status: 'connecting' };
  const live$ = defer(observe).pipe(
    map((value) => (last = { status: 'live', value })),
    catchError(() => of((last = stale(last)))),
    repeat({ delay: () => after(clock, RETRY_MS) }),
  );
  return concat(of(last), live$);
}

function stale<T>(last: LiveView<T>): LiveView<T> {
  return last.status === 'connecting' ? last : { ...last, status: 'stale' };
}
