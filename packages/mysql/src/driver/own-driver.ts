import type { ConnectionOptions } from 'mysql2';
import type { Driver, Wire } from './driver.ts';
import { refuseWithoutLibrary } from './errors.ts';
import { MAX_ROWS } from '../queue/sql.ts';

/** Opens connections of the backend's own with npm mysql2, at most five per second. */
export class OwnDriver implements Driver {
  readonly endpoint: string;
  readonly leastBetweenMs = 200;
  readonly #optionsNow: () => Promise<ConnectionOptions>;
  readonly #withinMs: number;

  /**
   * @param optionsNow returns the options of a new connection
   * @param withinMs timeout, in milliseconds, of a step (one call of a procedure). Rounded up to whole
   * seconds, it also limits how long the server waits for a row lock
   */
  constructor(endpoint: string, optionsNow: () => Promise<ConnectionOptions>, withinMs: number) {
    this.endpoint = endpoint;
    this.#optionsNow = optionsNow;
    this.#withinMs = withinMs;
  }

  async open({ onEnd, signal }: Parameters<Driver['open']>[0]): Promise<Wire> {
    // The package mysql2 is loaded when the first connection is made.
    const [{ createConnection }, options] = await Promise.all([
      import('mysql2').catch((error: unknown) => refuseWithoutLibrary('mysql2', error)),
      this.#optionsNow(),
    ]);
    signal.throwIfAborted();
    const connection = createConnection(options);
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
    await ready.query(sessionSettings(this.#withinMs));
    return { query: async (sql) => (await ready.query(sql))[0], destroy };
  }
}

/**
 * Returns the statement that sets the server's session variables on a connection that the backend opened
 * itself.
 * @param withinMs timeout of a step, in milliseconds
 */
export function sessionSettings(withinMs: number): string {
  const seconds = Math.max(1, Math.ceil(withinMs / 1_000));
  return `set session innodb_lock_wait_timeout = ${seconds}, session autocommit = 1, session completion_type = 'NO_CHAIN', session sql_big_selects = 1, session sql_select_limit = ${MAX_ROWS}`;
}
