import type { Clock } from '../base/clock.ts';
import type { Closing } from './closing.ts';
import { QueueLockError } from '../api/errors.ts';

/** Counts the running callbacks of a client. Each callback counts until its lock is released. */
export class Works {
  #underWay = 0;
  #onIdle: (() => void) | undefined;

  /** Runs `work`, and counts it as running until its promise has settled. `drain` waits for it. */
  during<T>(work: () => Promise<T>): Promise<T> {
    const ended = (): void => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onIdle?.();
    };
    this.#underWay += 1;
    const running = work();
    running.then(ended, ended);
    return running;
  }

  /**
   * Starts to close: no call can wait for a lock or join a queue from now on, and `stop` aborts in all running work. Settles when all work has ended,
   * or at the timeout.
   */
  drain(
    drainMs: number,
    { closing, clock }: { readonly closing: Closing; readonly clock: Clock },
  ): Promise<void> {
    closing.begin(new QueueLockError('CLOSED', 'the client is closing', { reason: 'client-closed' }));
    return new Promise<void>((resolve) => {
      const cancel = clock.after(drainMs, resolve);
      this.#onIdle = () => {
        cancel();
        resolve();
      };
      if (this.#underWay === 0) this.#onIdle();
    });
  }
}
