import { renewerSupport, type RenewerSupport } from '@queuelock/core/backend';
import type { RedisOptions } from './api/options.ts';
import type { SessionIdentity } from './session/renewer.ts';
import type { RedisSession } from './session/session.ts';

/** Returns the support for heartbeats from the heartbeat thread. The thread connects with the same options as the backend. */
export function renewersOf(options: RedisOptions): RenewerSupport {
  return renewerSupport({
    options,
    sent: ['url', 'tls', 'auth', 'prefix', 'requestTimeoutMs'],
    refused: { client: 'is left out, because no thread can be passed a client: set url instead' },
    loadModule: async () => (await import('./renewer-module.ts')).renewerModule(),
    sessionData: ({ id, generation, ttlMs }: RedisSession): SessionIdentity => ({ id, generation, ttlMs }),
  });
}
