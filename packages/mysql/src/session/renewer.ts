import { sessionLost, systemClock, type Renewer } from '@queuelock/core/backend';
import type { Settings } from '../api/options.ts';
import { Link } from '../server/link.ts';
import { Steps } from '../server/steps.ts';
import type { Tenancy } from './session.ts';

/** The data of a session that the heartbeat thread needs to send its heartbeats. */
export type SessionIdentity = Pick<Tenancy, 'id' | 'generation' | 'ttlMs'>;

/** Sends the heartbeats of a session that the main thread has opened. It runs in the heartbeat thread, over its own connection. */
export class MysqlRenewer implements Renewer {
  readonly #link: Link;
  readonly #steps: Steps;
  readonly #session: SessionIdentity;

  constructor({ driver, requestTimeoutMs: withinMs }: Settings, session: SessionIdentity) {
    this.#link = new Link(driver, {
      clock: systemClock(),
      withinMs,
      connections: 1,
      onDown: () => undefined,
    });
    // The heartbeat thread never creates the tables: without tables there is no session that it could renew.
    this.#steps = new Steps(this.#link, { onTurn: () => undefined, migrate: false });
    this.#session = session;
  }

  async renew(): Promise<number> {
    const { id, generation, ttlMs } = this.#session;
    const { word } = await this.#steps.take('renew', id, generation);
    if (word === 'lost') throw sessionLost(id);
    return ttlMs;
  }

  async close(): Promise<void> {
    this.#link.close();
  }
}
