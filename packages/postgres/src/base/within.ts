// Chapter base: which tools know nothing of PostgreSQL?
// How long something may take (here); the vocabulary of streams (rx).

import { QueueLockError, type Clock } from '@queuelock/core/backend';

/** How long something may take. */
export interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  /** Who does not answer. */
  readonly endpoint: string;
}

/** Rejects with `UNAVAILABLE` after that time. */
export function within<T>({ clock, ms, endpoint }: Limit, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      // After a pause of this process the answer may be there, and is read first.
      setImmediate(() => {
        reject(new QueueLockError('UNAVAILABLE', `${endpoint} did not answer within ${ms} ms`));
      });
    });
    answer.then(resolve, reject).finally(cancel);
  });
}
