// Chapter base: which tools know nothing of PostgreSQL?
// How long something may take (here); the vocabulary of streams (rx).

import { QueueLockError, type Clock } from '@queuelock/core/backend';

/** How long something may take. */
export interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  /** Who does not answer. */
  readonly endpoint: string;
  /** Another reason than a silent server, if there is one. */
  readonly reason?: (() => string | undefined) | undefined;
}

/** Rejects with `UNAVAILABLE` after that time. */
export function within<T>({ clock, ms, endpoint, reason }: Limit, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      // After a pause of this process the answer may be there, and is read first.
      setImmediate(() => {
        const found = reason?.();
        const late = found === undefined ? 'did not answer' : 'gave no connection';
        const message = `${endpoint} ${late} within ${ms} ms${found === undefined ? '' : `: ${found}`}`;
        reject(new QueueLockError('UNAVAILABLE', message));
      });
    });
    answer.then(resolve, reject).finally(cancel);
  });
}
