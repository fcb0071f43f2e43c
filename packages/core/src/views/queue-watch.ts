import type { Clock } from '../base/clock.ts';
import { toEntry } from '../entry/entry-value.ts';
import { jsonable } from '../base/jsonable.ts';
import { liveView } from './live-view.ts';
import type { QueueState } from '../api/queue-api.ts';
import { ReplaySubject, finalize, map, share, takeUntil, type Observable } from '../base/rx.ts';
import type { Backend, ObserveOptions } from '../api/spi.ts';

/** A queue as everybody can see it. Trouble with the server shows as `stale` and is retried; the stream itself never errors. */
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
 * Shares one upstream watch per name among all who look in the same way, for as long as somebody does; completes when the client closes.
 * Who looks at ease has a watch of its own, so that one who asks for every change takes its bound from nobody.
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

  watch(name: string, looking?: ObserveOptions): Observable<QueueState> {
    const way = `${String(looking?.apartMs ?? 0)} ${name}`;
    const present$ = this.#shared.get(way);
    if (present$) return present$;
    const queue$ = watchQueue(() => this.#backend.observe(name, looking), name, this.#clock).pipe(
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
