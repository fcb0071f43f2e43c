import type { Clock } from '../base/clock.ts';
import type { Closing } from './closing.ts';
import { QueueLockError } from '../api/errors.ts';

/** The works of a client that are under way, each with the release after it. */
export class Works {
  readonly #underWay = new Set<Promise<unknown>>();

  /** Is waited for from now on. */
  noted<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = (): void => void this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Nobody waits or joins any more, and works are told to stop; settles when they have ended, or the time is over. */
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
