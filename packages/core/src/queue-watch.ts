import type { QueueEntry, QueueState } from './api.ts';
import type { Clock } from './clock.ts';
import { decodeLabel } from './entry-value.ts';
import {
  type Observable,
  ReplaySubject,
  catchError,
  concat,
  defer,
  finalize,
  map,
  of,
  repeat,
  share,
  takeUntil,
} from './rx.ts';
import type { Backend, SeenEntry } from './spi.ts';
import { after } from './timer.ts';

const RETRY_MS = 500;

/** A queue as everybody can see it. Trouble with the server shows as `stale` and is retried; the stream itself never errors. */
function watchQueue(backend: Backend, name: string, clock: Clock): Observable<QueueState> {
  let last: QueueState = { status: 'connecting', name, entries: [] };
  const remember = (state: QueueState): QueueState => (last = state);
  const live$ = defer(() => backend.observe(name)).pipe(
    map((entries) => remember({ status: 'live', name, entries: entries.map(toEntry) })),
    catchError(() => of(stale(last)).pipe(map(remember))),
    repeat({ delay: () => after(clock, RETRY_MS) }),
  );
  return concat(of(last), live$);
}

/** Shares one upstream watch per name among all who look, for as long as somebody does; completes when the client closes. */
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

  watch(name: string): Observable<QueueState> {
    const present$ = this.#shared.get(name);
    if (present$) return present$;
    const queue$ = watchQueue(this.#backend, name, this.#clock).pipe(
      takeUntil(this.#closes$),
      finalize(() => this.#shared.delete(name)),
      share({
        connector: () => new ReplaySubject(1),
        resetOnComplete: true,
        resetOnError: true,
        resetOnRefCountZero: true,
      }),
    );
    this.#shared.set(name, queue$);
    return queue$;
  }
}

function stale(last: QueueState): QueueState {
  return last.status === 'connecting' ? last : { ...last, status: 'stale' };
}

function toEntry({ key, order, shared, value }: SeenEntry): QueueEntry {
  return { key, order, shared, ...decodeLabel(value) };
}
