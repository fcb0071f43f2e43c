import { QueueLockError, type Backend } from '@queuelock/core';
import {
  BehaviorSubject,
  NEVER,
  concatMap,
  dematerialize,
  filter,
  map,
  materialize,
  take,
  tap,
  type Observable,
} from 'rxjs';

type Session = Awaited<ReturnType<Backend['open']>>;
type Placement = Awaited<ReturnType<Session['enqueue']>>;

/** A notification of the store about an entry. */
export interface News {
  /** Whether the notification admitted the entry. */
  readonly admitted: boolean;
}

/**
 * The connection between the contender and its store, inside the contender. It observes notifications and can be cut. While it is
 * cut, no call leaves, heartbeats included, and nothing arrives. What was in flight arrives when it is restored.
 */
export class Link {
  readonly #onNews: (news: News) => void;
  readonly #whole$ = new BehaviorSubject(true);

  constructor(onNews: (news: News) => void) {
    this.#onNews = onNews;
  }

  cut(): void {
    this.#whole$.next(false);
  }

  mend(): void {
    this.#whole$.next(true);
  }

  /** Wraps the backend, as far as one contender needs it. */
  readonly through = (inner: Backend): Backend => ({
    info: inner.info,
    ...(inner.registers ? { registers: inner.registers } : {}),
    checkName: (queue) => {
      inner.checkName(queue);
    },
    open: (ttlMs, signal) => this.#call(async () => this.#session(await inner.open(ttlMs, signal))),
    observe: (queue) => this.#hear(inner.observe(queue)),
    close: () => inner.close(),
  });

  #session(inner: Session): Session {
    return {
      id: inner.id,
      ttlMs: inner.ttlMs,
      doubts$: this.#hear(inner.doubts$ ?? NEVER),
      renew: (signal) => this.#call(() => inner.renew(signal)),
      enqueue: (spec) => this.#call(async () => this.#placed(await inner.enqueue(spec))),
      tryEnqueue: (spec) =>
        this.#call(async () => {
          const placement = await inner.tryEnqueue(spec);
          return placement && this.#placed(placement);
        }),
      update: (queue, id, value) => this.#call(() => inner.update(queue, id, value)),
      remove: (queue, id) => this.#call(() => inner.remove(queue, id)),
      // Must not reject: the TTL removes the entries of a server that cannot be reached.
      close: () => (this.#whole$.value ? inner.close() : Promise.resolve()),
    };
  }

  #placed(placement: Placement): Placement {
    let isFirst = true;
    const turns$ = this.#hear(placement.turns$).pipe(
      tap(({ admitted }) => {
        // Skips the first value, which the contender knows from its own request.
        if (!isFirst) this.#onNews({ admitted });
        isFirst = false;
      }),
    );
    return { ...placement, turns$ };
  }

  async #call<T>(proceed: () => Promise<T>): Promise<T> {
    if (!this.#whole$.value) throw new QueueLockError('UNAVAILABLE', 'the way to the store is cut');
    return proceed();
  }

  /** Holds back values while the connection is cut, and delivers them when it is restored. */
  #hear<T>(news$: Observable<T>): Observable<T> {
    return news$.pipe(
      materialize(),
      concatMap((news) =>
        this.#whole$.pipe(
          filter((isWhole) => isWhole),
          take(1),
          map(() => news),
        ),
      ),
      dematerialize(),
    );
  }
}
