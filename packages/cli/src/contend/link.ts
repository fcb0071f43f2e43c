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

/** What the store has told about a place. */
export interface News {
  /** Whether it was that the turn has come. */
  readonly admitted: boolean;
}

/**
 * The way between a contender and its store, inside of the contender: it sees what the store tells of a place, and it can be cut. Then
 * no call goes out, heartbeats included, and nothing comes in until it is mended; what was under way arrives.
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

  /** The backend at the other end, as far as one contender needs it. */
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
      // It may not reject: the TTL ends what cannot be reached.
      close: () => (this.#whole$.value ? inner.close() : Promise.resolve()),
    };
  }

  #placed(placement: Placement): Placement {
    let isFirst = true;
    const turns$ = this.#hear(placement.turns$).pipe(
      tap(({ admitted }) => {
        // The first one is what the contender knows from having asked.
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

  /** What comes while the way is cut comes when it is mended. */
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
