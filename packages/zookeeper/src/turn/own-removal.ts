import { isQueueLockError } from '@queuelock/core/backend';
import type { Observer, Subscribable, Unsubscribable } from '../base/rx.ts';
import type { Removal, RemovalObserver } from '../server/node-watch.ts';
import type { Waiter } from './conflict-end.ts';

/** Returns the present path of an entry, which changes when the entry is converted to a reader. */
export function pathOf({ entry, path }: Waiter): string {
  return entry.path ?? path;
}

/** Emits when the entry itself was removed. A conversion to a reader, which replaces the node, is not a removal. It accepts one subscriber. */
export class OwnRemoval implements Subscribable<unknown>, RemovalObserver, Unsubscribable {
  readonly #waiter: Waiter;
  #path: string;
  #observer: Partial<Observer<unknown>> | undefined;
  #isOver = false;

  constructor(waiter: Waiter) {
    this.#waiter = waiter;
    this.#path = pathOf(waiter);
  }

  subscribe(observer: Partial<Observer<unknown>>): Unsubscribable {
    this.#observer = observer;
    this.#watch();
    return this;
  }

  unsubscribe(): void {
    this.#isOver = true;
    this.#waiter.context.watches.delete(this.#path, this);
  }

  next(removal: Removal): void {
    // A watch notifies all observers that it had at the removal of the node. This one may have been unsubscribed meanwhile, and must then not watch
    // again.
    if (this.#isOver) return;
    if (pathOf(this.#waiter) === this.#path) this.#observer?.next?.(removal);
    else this.#watch();
  }

  error(cause: unknown): void {
    if (!this.#isOver && !isAbandoned(cause)) this.#observer?.error?.(cause);
  }

  #watch(): void {
    this.#path = pathOf(this.#waiter);
    this.#waiter.context.watches.add(this.#path, this);
  }
}

/** Returns whether the error only means that the client has abandoned the session. */
export function isAbandoned(cause: unknown): boolean {
  return isQueueLockError(cause, 'CLOSED');
}
