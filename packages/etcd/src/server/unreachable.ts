import { QueueLockError, detailOf } from '@queuelock/core/backend';

/** Returns the error of a call that tried to open a session at every member, without success. */
export function unreachable(endpoint: string, failures: readonly unknown[]): QueueLockError {
  const reasons = failures.map(detailOf);
  return new QueueLockError(
    'UNAVAILABLE',
    `no member of ${endpoint} opened a session: ${reasons.join('; ')}`,
    { cause: failures[0] },
  );
}
