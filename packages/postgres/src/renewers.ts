import { renewerSupport, type RenewerSupport } from '@queuelock/core/backend';
import type { PostgresOptions } from './api/options.ts';
import type { SessionIdentity } from './session/renewer.ts';
import type { PostgresSession } from './session/session.ts';

/**
 * Returns the functions and options by which the heartbeat thread sends heartbeats. The thread connects with
 * the same options as the backend.
 */
export function renewersOf(options: PostgresOptions): RenewerSupport {
  return renewerSupport({
    options,
    sent: ['url', 'driver', 'tls', 'auth', 'schema', 'requestTimeoutMs'],
    refused: {
      pool: 'is left out, because no thread can be passed a pool: set url instead',
      client: "is left out, because no thread can be passed a client: set url and driver: 'postgres' instead",
      advisoryKey:
        'is left out: an advisory lock lasts as long as a connection of the main thread, which no other thread can check',
    },
    loadModule: async () => (await import('./renewer-module.ts')).renewerModule(),
    sessionData: ({ tenancy: { id, num, generation, ttlMs } }: PostgresSession): SessionIdentity => ({
      id,
      num,
      generation,
      ttlMs,
    }),
  });
}
