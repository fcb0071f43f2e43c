import type { ConnectionConfig } from 'mariadb';
import type { Driver, Wire } from './driver.ts';
import { refuseWithoutLibrary } from './errors.ts';
import { sessionSettings } from './own-driver.ts';
import { statementOf } from './pool-driver.ts';

/** Opens connections of the backend's own with npm mariadb, at most five per second. */
export class MariadbDriver implements Driver {
  readonly endpoint: string;
  readonly leastBetweenMs = 200;
  readonly #optionsNow: () => Promise<ConnectionConfig>;
  readonly #withinMs: number;

  /**
   * @param optionsNow returns the options of a new connection
   * @param withinMs timeout, in milliseconds, of a step (one call of a procedure). Rounded up to whole
   * seconds, it also limits how long the server waits for a row lock
   */
  constructor(endpoint: string, optionsNow: () => Promise<ConnectionConfig>, withinMs: number) {
    this.endpoint = endpoint;
    this.#optionsNow = optionsNow;
    this.#withinMs = withinMs;
  }

  async open({ onEnd, signal }: Parameters<Driver['open']>[0]): Promise<Wire> {
    // An application that does not use npm mariadb need not install it. `webpackIgnore` keeps webpack from
    // refusing the missing package.
    const [{ createConnection }, options] = await Promise.all([
      import(/* webpackIgnore: true */ 'mariadb').catch((error: unknown) =>
        refuseWithoutLibrary('mariadb', error),
      ),
      this.#optionsNow(),
    ]);
    signal.throwIfAborted();
    // The connection is open when the promise resolves. The option connectTimeout limits the time until then.
    const connection = await createConnection(options);
    const destroy = (): void => {
      connection.destroy();
    };
    if (signal.aborted) destroy();
    signal.throwIfAborted();
    signal.addEventListener('abort', destroy);
    connection.on('error', onEnd);
    connection.on('end', () => {
      onEnd(new Error('the connection was closed'));
    });
    const query = async (sql: string): Promise<unknown> =>
      (await connection.query<readonly unknown[]>(statementOf(sql)))[0];
    await query(sessionSettings(this.#withinMs));
    return { query, destroy };
  }
}
