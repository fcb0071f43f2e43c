import type { QueueLockError } from '../api/errors.ts';

/** A wait or a work that ends when the client begins to close. */
export interface ClosingListener {
  closing(error: QueueLockError): void;
}

/** Notifies listeners that the client begins to close: running work must stop, and waits must end. */
export class Closing {
  readonly #listeners = new Set<ClosingListener>();
  #error: QueueLockError | undefined;

  /** The error passed to listeners; `undefined` before closing. */
  get error(): QueueLockError | undefined {
    return this.#error;
  }

  /** Registers a listener; calls it at once if closing has begun. */
  add(listener: ClosingListener): void {
    if (this.#error) listener.closing(this.#error);
    else this.#listeners.add(listener);
  }

  delete(listener: ClosingListener): void {
    this.#listeners.delete(listener);
  }

  begin(error: QueueLockError): void {
    if (this.#error) return;
    this.#error = error;
    for (const listener of this.#listeners) listener.closing(error);
    this.#listeners.clear();
  }
}
