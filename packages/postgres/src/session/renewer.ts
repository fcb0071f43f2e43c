import { sessionLost, systemClock, type Renewer } from '@queuelock/core/backend';
import type { Settings } from '../api/options.ts';
import { Opener } from '../server/opener.ts';
import { Pool } from '../server/pool.ts';
import { Steps } from '../server/steps.ts';
import type { Tenancy } from './tenancy.ts';

/** The data of a session that the heartbeat thread needs to send its heartbeats. */
export type SessionIdentity = Pick<Tenancy, 'id' | 'num' | 'generation' | 'ttlMs'>;

/** Sends the heartbeats of a session that the main thread has opened. It runs in the heartbeat thread, over its own connection. */
export class PostgresRenewer implements Renewer {
  readonly #opener: Opener;
  readonly #pool: Pool;
  readonly #steps: Steps;
  readonly #session: SessionIdentity;

  constructor({ driver, schema, requestTimeoutMs: withinMs }: Settings, session: SessionIdentity) {
    const clock = systemClock();
    this.#opener = new Opener(driver, { clock, withinMs });
    this.#pool = new Pool(driver, this.#opener, { clock, withinMs, most: 1, onDown: () => undefined });
    // The heartbeat thread never creates the tables: without tables there is no session that it could renew.
    this.#steps = new Steps(this.#pool, { endpoint: driver.endpoint, schema, migrate: false });
    this.#session = session;
  }

  async renew(): Promise<number> {
    const { id, num, generation, ttlMs } = this.#session;
    const { word } = await this.#steps.take('renew', num, generation);
    if (word === 'lost') throw sessionLost(id);
    return ttlMs;
  }

  async close(): Promise<void> {
    this.#pool.close();
    this.#opener.close();
  }
}
