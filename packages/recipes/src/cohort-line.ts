import { checkWait, waitLimit, type WaitContext, type WaitOptions } from './wait-limit.ts';
import type { Subscription } from './rx.ts';

interface Waiter<T> {
  readonly resolve: (turn: T) => void;
  readonly reject: (error: unknown) => void;
  limit: Subscription | undefined;
}

/** Waiters of this process, in the order of their calls. */
export class LocalLine<T> {
  readonly #waiters = new Set<Waiter<T>>();
  readonly #onLeave: () => void;

  /** @param onLeave called when a waiter gives up by its timeout or signal */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  /**
   * Waits in the local queue of the process. Resolves with the value, such as a local hold, that a call of
   * `admit` passes to this waiter. Rejects at the timeout or when the signal aborts.
   */
  wait(options: WaitOptions, context: WaitContext): Promise<T> {
    checkWait(options, 1);
    return new Promise((resolve, reject) => {
      const waiter: Waiter<T> = { resolve, reject, limit: undefined };
      this.#waiters.add(waiter);
      waiter.limit = waitLimit(options, context).subscribe({
        error: (error: unknown) => {
          this.#waiters.delete(waiter);
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort rejects with the signal's own reason
          reject(error);
          this.#onLeave();
        },
      });
    });
  }

  /** Removes the first waiter from the local queue, and resolves its wait with the value. */
  admit(turn: T): void {
    const [first] = this.#waiters;
    if (first) this.#take(first).resolve(turn);
  }

  refuse(error: unknown): void {
    for (const waiter of this.#waiters) this.#take(waiter).reject(error);
  }

  #take(waiter: Waiter<T>): Waiter<T> {
    this.#waiters.delete(waiter);
    waiter.limit?.unsubscribe();
    return waiter;
  }
}
