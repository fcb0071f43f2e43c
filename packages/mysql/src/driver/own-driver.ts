import type { ConnectionOptions } from 'mysql2';
import type { Driver, Wire } from './driver.ts';
import { refuseWithoutLibrary } from './errors.ts';

/** Opens the backend's own connections by npm mysql2, with at most five attempts a second. */
export class OwnDriver implements Driver {
  readonly endpoint: string;
  readonly leastBetweenMs = 200;
  readonly #options: ConnectionOptions;
  readonly #lockWaitSeconds: number;

  /** @param withinMs timeout of a step. It also limits how long the server waits for a row lock, rounded up to whole seconds. */
  constructor(endpoint: string, options: ConnectionOptions, withinMs: number) {
    this.endpoint = endpoint;
    this.#options = options;
    this.#lockWaitSeconds = Math.max(1, Math.ceil(withinMs / 1_000));
  }

  async open({ onEnd, signal }: Parameters<Driver['open']>[0]): Promise<Wire> {
    // The library is loaded when the first connection is made.
    const { createConnection } = await import('mysql2').catch(refuseWithoutLibrary);
    signal.throwIfAborted();
    const connection = createConnection(this.#options);
    const destroy = (): void => {
      connection.destroy();
    };
    signal.addEventListener('abort', destroy);
    connection.on('error', onEnd);
    connection.on('end', () => {
      onEnd(new Error('the connection was closed'));
    });
    const ready = connection.promise();
    await ready.connect();
    await ready.query(
      `set session innodb_lock_wait_timeout = ${this.#lockWaitSeconds}, session autocommit = 1`,
    );
    return { query: async (sql) => (await ready.query(sql))[0], destroy };
  }
}
