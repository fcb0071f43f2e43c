import { QueueLockError } from '@queuelock/core';
import { defer, tap, type Observable } from './rx.ts';

/** What a stream of the core says of itself. */
interface Seen {
  readonly status: 'connecting' | 'live' | 'stale';
  /** Why the last look failed. */
  readonly error?: unknown;
}

/** Whether somebody who waits sees the store as it is: if not, nobody knows whether others are what he waits for. */
export class Sight {
  readonly #blind = new Map<object, unknown>();

  /** Why the store is not seen at present; `undefined`: it is. */
  get trouble(): unknown {
    return this.#blind.values().next().value;
  }

  /** The same stream, which counts from the moment at which it is subscribed to. */
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

  /** The same answer, without which nothing is seen. */
  async until<T>(answer: Promise<T>): Promise<T> {
    this.#blind.set(answer, unanswered());
    const value = await answer;
    this.#blind.delete(answer);
    return value;
  }
}

/** Why nothing is seen where nothing has failed yet. */
export function unanswered(): QueueLockError {
  return new QueueLockError('UNAVAILABLE', 'the store has not answered yet');
}
