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
export interface StoreNotification {
  /** Whether the notification admitted the entry. */
  readonly admitted: boolean;
}

/**
 * The connection between a contender and its store, simulated inside the contender's process. It observes
 * notifications, and a visitor of the demo page can cut it. While it is cut, no call is sent, not even a
 * heartbeat, and no message arrives. Messages that were in flight arrive when the connection is restored.
 */
export class Link {
  readonly #onNotification: (news: StoreNotification) => void;
  readonly #connected$ = new BehaviorSubject(true);

  constructor(onNotification: (news: StoreNotification) => void) {
    this.#onNotification = onNotification;
  }

  cut(): void {
    this.#connected$.next(false);
  }

  mend(): void {
    this.#connected$.next(true);
  }

  /**
   * Returns a backend that sends every call through this connection. It has only the properties and methods
   * that a contender uses.
   */
  readonly wrap = (inner: Backend): Backend => ({
    info: inner.info,
    ...(inner.registers ? { registers: inner.registers } : {}),
    checkName: (queue) => {
      inner.checkName(queue);
    },
    open: (ttlMs, signal) => this.#call(async () => this.#session(await inner.open(ttlMs, signal))),
    observe: (queue) => this.#gated(inner.observe(queue)),
    close: () => inner.close(),
  });

  #session(inner: Session): Session {
    return {
      id: inner.id,
      ttlMs: inner.ttlMs,
      doubts$: this.#gated(inner.doubts$ ?? NEVER),
      renew: (signal, provenMs) => this.#call(() => inner.renew(signal, provenMs)),
      enqueue: (spec) => this.#call(async () => this.#placed(await inner.enqueue(spec))),
      tryEnqueue: (spec) =>
        this.#call(async () => {
          const placement = await inner.tryEnqueue(spec);
          return placement && this.#placed(placement);
        }),
      update: (queue, id, value) => this.#call(() => inner.update(queue, id, value)),
      remove: (queue, id) => this.#call(() => inner.remove(queue, id)),
      // While the connection is cut, every call rejects, but `close` must not reject. So `close` sends
      // nothing then, and the TTL removes the entries.
      close: () => (this.#connected$.value ? inner.close() : Promise.resolve()),
    };
  }

  #placed(placement: Placement): Placement {
    let isFirst = true;
    const turns$ = this.#gated(placement.turns$).pipe(
      tap(({ admitted }) => {
        // Does not report the first turn as a notification, because it repeats the response to the
        // contender's `enqueue`.
        if (!isFirst) this.#onNotification({ admitted });
        isFirst = false;
      }),
    );
    return { ...placement, turns$ };
  }

  async #call<T>(proceed: () => Promise<T>): Promise<T> {
    if (!this.#connected$.value)
      throw new QueueLockError('UNAVAILABLE', 'the connection to the store is cut');
    return proceed();
  }

  /**
   * Returns a stream of the values of `values$`. It holds them back while the connection is cut, and emits
   * them when the connection is restored.
   */
  #gated<T>(values$: Observable<T>): Observable<T> {
    return values$.pipe(
      materialize(),
      concatMap((value) =>
        this.#connected$.pipe(
          filter((isWhole) => isWhole),
          take(1),
          map(() => value),
        ),
      ),
      dematerialize(),
    );
  }
}
