import { QueueLockError } from '@queuelock/core';
import { defer, tap, type Observable } from './rx.ts';

/** Status of a stream of `@queuelock/core`. */
interface Seen {
  readonly status: 'connecting' | 'live' | 'stale';
  /** Reason for which the last read failed. */
  readonly error?: unknown;
}

/**
 * Tracks whether a waiter can read the store. While it cannot, a timeout of its wait is `UNAVAILABLE`: it is unknown whether other clients
 * delay it.
 */
export class Sight {
  readonly #blind = new Map<object, unknown>();

  /** Returns why the store cannot be read at present, or `undefined` if it can. */
  get trouble(): unknown {
    return this.#blind.values().next().value;
  }

  /** Passes on the states of a stream, and tracks whether the store can be read, from the subscription on. */
  through<T extends Seen>(state$: Observable<T>): Observable<T> {
    return defer(() => {
      this.#blind.set(state$, unanswered());
      return state$.pipe(
        tap(({ status, error }) => {
          if (status === 'live') this.#blind.delete(state$);
          else this.#blind.set(state$, error ?? unanswered());
        }),
      );
    });
  }

  /**
   * Resolves or rejects as the promise of a request does. Until the reply arrives, a timeout of the wait rejects with `UNAVAILABLE`, not
   * with `TIMEOUT`.
   */
  async until<T>(answer: Promise<T>): Promise<T> {
    this.#blind.set(answer, unanswered());
    const value = await answer;
    this.#blind.delete(answer);
    return value;
  }
}

/** Returns the error of a store that has not replied to the first read yet. */
export function unanswered(): QueueLockError {
  return new QueueLockError('UNAVAILABLE', 'the store has not responded yet');
}
