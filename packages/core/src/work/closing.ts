import type { QueueLockError } from '../api/errors.ts';

/** Notifies listeners that the client begins to close: running work must stop, and waits must end. */
export class Closing {
  readonly #told = new Set<(error: QueueLockError) => void>();
  #error: QueueLockError | undefined;

  /** The error passed to listeners; `undefined` before closing. */
  get error(): QueueLockError | undefined {
    return this.#error;
  }

  /**
   * Registers a listener; calls it at once if closing has begun.
   * @returns a function that removes the listener
   */
  tell(told: (error: QueueLockError) => void): () => void {
    if (this.#error) told(this.#error);
    else this.#told.add(told);
    return () => this.#told.delete(told);
  }

  begin(error: QueueLockError): void {
    if (this.#error) return;
    this.#error = error;
    for (const told of this.#told) told(error);
    this.#told.clear();
  }
}
