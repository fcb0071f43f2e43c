import { renewerSupport, type RenewerSupport } from '@queuelock/core/backend';
import type { ConsulOptions } from './api/options.ts';
import type { ConsulSession } from './session/session.ts';

/** Returns the support for heartbeats from the heartbeat thread. The thread connects with the same options as the backend. */
export function renewersOf(options: ConsulOptions): RenewerSupport {
  return renewerSupport({
    options,
    sent: ['hosts', 'tls', 'token', 'prefix', 'datacenter', 'namespace', 'partition', 'requestTimeoutMs'],
    refused: {},
    loadModule: async () => (await import('./renewer-module.ts')).renewerModule(),
    sessionData: ({ identity }: ConsulSession) => identity,
  });
}
