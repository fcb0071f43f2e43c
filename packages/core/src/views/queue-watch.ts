import type { Clock } from '../base/clock.ts';
import { toEntry } from '../entry/entry-value.ts';
import { jsonable } from '../base/jsonable.ts';
import { liveView } from './live-view.ts';
import type { QueueState } from '../api/queue-api.ts';
import { ReplaySubject, finalize, map, share, takeUntil, type Observable } from '../base/rx.ts';
import type { Backend, ObserveOptions } from '../api/spi.ts';

/** Observes a queue. While the server fails, emits `stale` and retries, so the stream never errors. */
function watchQueue(
  observe: () => ReturnType<Backend['observe']>,
  name: string,
  clock: Clock,
): Observable<QueueState> {
  return liveView(observe, clock).pipe(
    map((view) =>
      jsonable({
        status: view.status,
        name,
        entries: view.status === 'connecting' ? [] : view.value.map(toEntry),
        ...('error' in view ? { error: view.error } : {}),
      }),
    ),
  );
}

/**
 * Shares one watch for each name and interval among all observers, as long as there are any. Completes when the client closes. Observers with another
 * `apartMs` have a separate watch. So an observer of every change does not cause more reads for the others.
 */
export class SharedQueues {
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #closes$: Observable<unknown>;
  readonly #shared = new Map<string, Observable<QueueState>>();

  constructor(backend: Backend, clock: Clock, closes$: Observable<unknown>) {
    this.#backend = backend;
    this.#clock = clock;
    this.#closes$ = closes$;
  }

  watch(name: string, observeOptions?: ObserveOptions): Observable<QueueState> {
    const way = `${String(observeOptions?.apartMs ?? 0)} ${name}`;
    const present$ = this.#shared.get(way);
    if (present$) return present$;
    const queue$ = watchQueue(() => this.#backend.observe(name, observeOptions), name, this.#clock).pipe(
      takeUntil(this.#closes$),
      finalize(() => this.#shared.delete(way)),
      share({
        connector: () => new ReplaySubject(1),
        resetOnComplete: true,
        resetOnError: true,
        resetOnRefCountZero: true,
      }),
    );
    this.#shared.set(way, queue$);
    return queue$;
  }
}
