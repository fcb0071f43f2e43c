import type { Renewer } from '@queuelock/core/backend';
import type { Settings } from '../api/options.ts';
import { HttpClient } from '../driver/http.ts';
import { Keys } from '../queue/keys.ts';
import { Connection } from '../server/connection.ts';
import { SessionKey } from '../server/session-key.ts';
import { provenBy } from './heartbeat-proof.ts';
import { sendHeartbeat, type HeartbeatTools } from './heartbeat.ts';

/** The data of a session that the heartbeat thread needs to send its heartbeats. */
export interface SessionIdentity {
  readonly session: string;
  readonly ttlMs: number;
  /**
   * Identifies the process that uses the session. When another process resumes the session, this text in the store changes, and the heartbeat thread
   * notices that.
   */
  readonly owner: string;
}

/** Sends the heartbeats of a session that the main thread has opened. It runs in the heartbeat thread, over its own connections. */
export class ConsulRenewer implements Renewer {
  readonly #tools: HeartbeatTools;
  readonly #session: SessionIdentity;

  constructor(settings: Settings, { session, ttlMs, owner }: SessionIdentity) {
    const connection = new Connection({ ...settings, http: new HttpClient(settings) });
    const key = new Keys(settings.prefix).session(session);
    const sessionKey = new SessionKey(connection, { key, session, owner });
    this.#tools = { connection, sessionKey };
    this.#session = { session, ttlMs, owner };
  }

  async renew(signal: AbortSignal, provenMs: number): Promise<number> {
    const { session, ttlMs } = this.#session;
    await sendHeartbeat(this.#tools, session, signal);
    return provenBy(ttlMs, provenMs);
  }

  async close(): Promise<void> {
    this.#tools.connection.close();
  }
}
