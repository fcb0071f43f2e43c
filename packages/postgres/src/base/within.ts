// Folder "base": contains general-purpose tools that are independent of PostgreSQL.
// within.ts (this file) limits the time of a promise. rx.ts exports the names that are imported from RxJS.

import { QueueLockError, type Clock } from '@queuelock/core/backend';

/** A timeout, and the data for its error message. */
export interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  /** Address of the server, for the error message of the timeout. */
  readonly endpoint: string;
  /**
   * Returns the reason if no connection to the server was available. Returns `undefined` if a connection was
   * available and the server did not respond.
   */
  readonly reason?: (() => string | undefined) | undefined;
  /**
   * Whether the connection to the server was open. If so, the error names possible reasons for which the
   * server does not respond.
   */
  readonly isConnected?: boolean;
}

// Possible causes of a timeout on an open connection, for the error message.
const IF_IT_RUNS =
  ' on an open connection (if it runs: a pooler has no free connection, no replica of synchronous_standby_names is connected, or the tables of queuelock are locked)';

/**
 * Settles as the promise `response` does. Rejects with `UNAVAILABLE` if `response` is still pending after
 * `ms` milliseconds.
 */
export function within<T>(
  { clock, ms, endpoint, reason, isConnected = false }: Limit,
  response: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      // If this process was paused, this timer may run before the process has read a reply that has arrived.
      // Node reads the reply before it runs `setImmediate` callbacks.
      setImmediate(() => {
        const found = reason?.();
        const late = found === undefined ? 'did not respond' : 'gave no connection';
        const why = found === undefined ? (isConnected ? IF_IT_RUNS : '') : `: ${found}`;
        reject(new QueueLockError('UNAVAILABLE', `${endpoint} ${late} within ${ms} ms${why}`));
      });
    });
    response.then(resolve, reject).finally(cancel);
  });
}
