import { renewerSupport, type PemFiles, type RenewerSupport } from '@queuelock/core/backend';
import type { EtcdOptions } from './api/options.ts';
import type { Lease } from './session/lease.ts';
import type { EtcdSession } from './session/session.ts';

/** The options of the backend from which the heartbeat thread opens its connection. */
export interface SentOptions extends EtcdOptions {
  /** The PEM files that the URL of the backend names, in place of `credentials`. */
  readonly files?: PemFiles | undefined;
}

/** The lease and the owner of a session. The heartbeat thread needs them to send the heartbeats of the session. */
export interface SessionIdentity {
  readonly lease: Lease;
  /**
   * A text in the store that identifies the process which has the session. When another process resumes the session, the text changes, and the
   * heartbeat thread notices that.
   */
  readonly owner: string;
}

/** Returns what the core needs to send heartbeats from a heartbeat thread. The thread connects with the same options as the backend. */
export function renewersOf(options: SentOptions, owner: string): RenewerSupport {
  return renewerSupport({
    options,
    sent: [
      'hosts',
      'prefix',
      'auth',
      'credentials',
      'files',
      'requestTimeoutMs',
      'heartbeatProof',
      'transport',
      'grpcOptions',
    ],
    refused: {
      client:
        "is left out, because no thread can be passed a client: set hosts, auth, credentials and transport: 'etcd3' instead",
    },
    loadModule: async () => (await import('./renewer-module.ts')).renewerModule(),
    sessionData: ({ lease }: EtcdSession): SessionIdentity => ({ lease, owner }),
  });
}
