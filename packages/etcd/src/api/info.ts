import type { BackendInfo } from '@queuelock/core/backend';
import type { CheckedOptions } from './options.ts';

/** The largest TTL that a server accepts, in milliseconds. */
export const MAX_TTL_MS = 9_000_000_000_000;

/** Describes this backend for the core: its name, the address of its cluster, the quorum as the authority about locks, and its TTLs. */
export function infoOf(options: Pick<CheckedOptions, 'hosts' | 'tls' | 'prefix'>): BackendInfo {
  return {
    name: 'etcd',
    endpoint: endpointOf(options),
    authority: 'quorum',
    minTtlMs: 1_000,
    defaultTtlMs: 10_000,
  };
}

/** Returns the address of the cluster as a URL, for messages. */
function endpointOf({ hosts, tls, prefix }: Pick<CheckedOptions, 'hosts' | 'tls' | 'prefix'>): string {
  return `${tls ? 'etcds' : 'etcd'}://${hosts.join(',')}${prefix === '' ? '' : `/${prefix}`}`;
}
