import type { Renewer } from '@queuelock/core/backend';
import type { Settings } from '../api/options.ts';
import { HttpClient } from '../driver/http.ts';
import { Keys } from '../queue/keys.ts';
import { Connection } from '../server/connection.ts';
import { SessionKey } from '../server/session-key.ts';
import { provenBy } from './heartbeat-proof.ts';
import { sendHeartbeat, type HeartbeatTools } from './heartbeat.ts';

/** The data of a session from which another thread sends its heartbeats. */
export interface SessionIdentity {
  readonly session: string;
  readonly ttlMs: number;
  /** Identifies the process that uses the session. If another process resumes the session, the thread notices that. */
  readonly owner: string;
}

/** Sends the heartbeats of a session that another thread has opened, over connections of its own. */
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
