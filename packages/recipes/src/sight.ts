import { QueueLockError } from '@queuelock/core';
import { defer, tap, type Observable } from './rx.ts';

/**
 * A state that a stream of `@queuelock/core` emits, reduced to the properties that show whether the store can
 * be read.
 */
interface Seen {
  readonly status: 'connecting' | 'live' | 'stale';
  /** Reason for which the last read of the store failed. */
  readonly error?: unknown;
}

/**
 * Tracks whether a waiter can read the store. While it cannot, a timeout of its wait is reported as
 * `UNAVAILABLE` and not as `TIMEOUT`, because it is unknown whether other clients delay it.
 */
export class Sight {
  readonly #blind = new Map<object, unknown>();

  /** The reason why the store cannot be read now, or `undefined` if it can be read. */
  get failure(): unknown {
    return this.#blind.values().next().value;
  }

  /**
   * Emits the states of a stream unchanged, and records for each one whether the store can be read. Until the
   * first state, the store counts as unreadable.
   */
  through<T extends Seen>(state$: Observable<T>): Observable<T> {
    return defer(() => {
      this.#blind.set(state$, withoutResponse());
      return state$.pipe(
        tap(({ status, error }) => {
          if (status === 'live') this.#blind.delete(state$);
          else this.#blind.set(state$, error ?? withoutResponse());
        }),
      );
    });
  }

  /**
   * Settles as the promise of a request does. Until then the store counts as unreadable, so that a timeout of
   * the wait rejects with `UNAVAILABLE` and not with `TIMEOUT`.
   */
  async until<T>(response: Promise<T>): Promise<T> {
    this.#blind.set(response, withoutResponse());
    const value = await response;
    this.#blind.delete(response);
    return value;
  }
}

/** Returns the error for a store that has not replied yet. */
export function withoutResponse(): QueueLockError {
  return new QueueLockError('UNAVAILABLE', 'the store has not responded yet');
}
