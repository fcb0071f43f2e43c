import type { Clock } from '../base/clock.ts';
import type { Closing } from './closing.ts';
import { QueueLockError } from '../api/errors.ts';

/** The running works of a client, each including its release. */
export class Works {
  readonly #underWay = new Set<Promise<unknown>>();

  /** Registers a work, so that `drain` waits for it. */
  noted<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = (): void => void this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Begins to close: waits and joins end, and works are told to stop. Settles when all works have ended, or at the timeout. */
  drain(
    drainMs: number,
    { closing, clock }: { readonly closing: Closing; readonly clock: Clock },
  ): Promise<void> {
    closing.begin(new QueueLockError('CLOSED', 'the client is closing', { reason: 'client-closed' }));
    return new Promise<void>((resolve) => {
      const cancel = clock.after(drainMs, resolve);
      void this.#ended().then(() => {
        cancel();
        resolve();
      });
    });
  }

  async #ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }
}
