import { QueueLockError, detailOf } from '@queuelock/core/backend';
import type { CheckedOptions } from '../api/options.ts';

/** Returns the address of the cluster as a URL, for messages. */
export function endpointOf({ hosts, tls, prefix }: Pick<CheckedOptions, 'hosts' | 'tls' | 'prefix'>): string {
  return `${tls ? 'etcds' : 'etcd'}://${hosts.join(',')}${prefix === '' ? '' : `/${prefix}`}`;
}

/** Returns the error of an attempt that failed at each member. */
export function unreachable(endpoint: string, failures: readonly unknown[]): QueueLockError {
  const reasons = failures.map(detailOf);
  return new QueueLockError(
    'UNAVAILABLE',
    `no member of ${endpoint} opened a session: ${reasons.join('; ')}`,
    { cause: failures[0] },
  );
}
