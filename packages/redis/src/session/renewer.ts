import { sessionLost, systemClock, type Renewer } from '@queuelock/core/backend';
import type { Settings } from '../api/options.ts';
import { Keys } from '../queue/keys.ts';
import { SCRIPTS } from '../queue/scripts.ts';
import { Link } from '../server/link.ts';
import { Steps } from '../server/steps.ts';
import type { Tenancy } from './session.ts';

/** The data of a session that the heartbeat thread needs to send its heartbeats. */
export type SessionIdentity = Pick<Tenancy, 'id' | 'generation' | 'ttlMs'>;

/** Sends the heartbeats of a session that the main thread has opened. It runs in the heartbeat thread, over its own connection. */
export class RedisRenewer implements Renewer {
  readonly #link: Link;
  readonly #steps: Steps;
  readonly #session: SessionIdentity;

  constructor({ driver, prefix, requestTimeoutMs: withinMs }: Settings, session: SessionIdentity) {
    this.#link = new Link(driver, { clock: systemClock(), withinMs });
    this.#steps = new Steps(this.#link, { keys: new Keys(prefix), endpoint: driver.endpoint });
    this.#session = session;
  }

  async renew(): Promise<number> {
    const { id, generation, ttlMs } = this.#session;
    // The last three arguments make the script `renew` check entries. The main thread makes these checks, so the heartbeat thread passes values that
    // skip them.
    const { word } = await this.#steps.take(SCRIPTS.renew, id, generation, '0', '', '');
    if (word === 'lost') throw sessionLost(id);
    return ttlMs;
  }

  async close(): Promise<void> {
    this.#link.close();
  }
}
