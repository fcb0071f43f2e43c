import type { ClientConfig } from 'pg';
import type { Driver, Wire, WireEvents } from './driver.ts';
import { refuseWithoutLibrary } from './errors.ts';
import { wireOf } from './wire.ts';

/** Opens connections of the backend's own with npm pg, which it loads at the first connection. */
export class PgDriver implements Driver {
  readonly endpoint: string;
  readonly isShared = false;
  readonly #configNow: () => Promise<ClientConfig>;

  /** @param configNow returns the configuration of a new connection */
  constructor(endpoint: string, configNow: () => Promise<ClientConfig>) {
    this.endpoint = endpoint;
    this.#configNow = configNow;
  }

  async open(events: WireEvents): Promise<Wire> {
    const [{ default: pg }, config] = await Promise.all([
      import('pg').catch((error: unknown) => refuseWithoutLibrary('pg', error)),
      this.#configNow(),
    ]);
    events.signal.throwIfAborted();
    const client = new pg.Client(config);
    const close = (): void => {
      client.end().catch(() => undefined);
    };
    const destroy = (): void => {
      // Destroys the connection's socket too, because end() waits for a reply of the server, which may never
      // arrive.
      close();
      client.connection.stream.destroy();
    };
    // Ignores the error event of a failed connection: connect() rejects with the same error, and an event
    // without a listener would end the process.
    client.on('error', () => undefined);
    events.signal.throwIfAborted();
    events.signal.addEventListener('abort', destroy);
    await client.connect();
    return wireOf(client, events, (broken) => {
      if (broken) destroy();
      else close();
    });
  }
}
