import { renewerSupport, type RenewerSupport } from '@queuelock/core/backend';
import type { MysqlOptions } from './api/options.ts';
import type { SessionIdentity } from './session/renewer.ts';
import type { MysqlSession } from './session/session.ts';

/** Returns the functions and options by which the heartbeat thread sends heartbeats. The thread connects with the same options as the backend. */
export function renewersOf(options: MysqlOptions): RenewerSupport {
  return renewerSupport({
    options,
    sent: ['url', 'driver', 'tls', 'auth', 'requestTimeoutMs'],
    refused: { pool: 'is left out, because no thread can be passed a pool: set url instead' },
    loadModule: async () => (await import('./renewer-module.ts')).renewerModule(),
    sessionData: ({ id, generation, ttlMs }: MysqlSession): SessionIdentity => ({ id, generation, ttlMs }),
  });
}
