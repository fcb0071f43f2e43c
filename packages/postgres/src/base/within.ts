// The folder base answers: which tools are independent of PostgreSQL?
// Timeouts (this file), and the names that are imported from RxJS (rx.ts).

import { QueueLockError, type Clock } from '@queuelock/core/backend';

/** A timeout, and the text of its error. */
export interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  /** The server that does not respond. */
  readonly endpoint: string;
  /** Returns the reason when something other than a silent server causes the timeout. */
  readonly reason?: (() => string | undefined) | undefined;
}

/** Settles as `answer` does, or rejects with `UNAVAILABLE` after `ms` milliseconds. */
export function within<T>({ clock, ms, endpoint, reason }: Limit, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      // After a pause of this process, the reply may have arrived already. It is read before the timeout counts.
      setImmediate(() => {
        const found = reason?.();
        const late = found === undefined ? 'did not respond' : 'gave no connection';
        const message = `${endpoint} ${late} within ${ms} ms${found === undefined ? '' : `: ${found}`}`;
        reject(new QueueLockError('UNAVAILABLE', message));
      });
    });
    answer.then(resolve, reject).finally(cancel);
  });
}
