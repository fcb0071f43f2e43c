import type { QueueLockError } from '../api/errors.ts';

/** A wait or running work, which must end when the client begins to close. */
export interface ClosingListener {
  closing(error: QueueLockError): void;
}

/** Notifies listeners that the client begins to close: running work must stop, and waits must end. */
export class Closing {
  readonly #listeners = new Set<ClosingListener>();
  #error: QueueLockError | undefined;

  /** The error that listeners receive; `undefined` until the client begins to close. */
  get error(): QueueLockError | undefined {
    return this.#error;
  }

  /** Registers a listener. Calls it at once if the client has begun to close. */
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
