import type { QueueLockError } from '../api/errors.ts';

/** Whom a client tells that it begins to close, before it does: works that are to stop, and waits that have no use any more. */
export class Closing {
  readonly #told = new Set<(error: QueueLockError) => void>();
  #error: QueueLockError | undefined;

  /** With what everybody is told; `undefined` before. */
  get error(): QueueLockError | undefined {
    return this.#error;
  }

  /** Tells at once if it has begun. The answer is for those who need not be told any more. */
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
