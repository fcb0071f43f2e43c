import { invalidArgument } from '@queuelock/core/backend';
import type { Driver, Wire } from './driver.ts';

/** A pool of `mysql2/promise`, as far as it is used. */
export interface GivenPool {
  /** A connection to use alone, until it is released or destroyed. */
  getConnection(): Promise<GivenConnection>;
}

/** One of its connections. */
export interface GivenConnection {
  /** Sends one statement. */
  query(options: {
    readonly sql: string;
    readonly rowsAsArray: boolean;
    readonly typeCast: boolean;
  }): Promise<unknown>;
  /** Gives it back. */
  release(): void;
  /** Closes it, in the middle of whatever it does. */
  destroy(): void;
}

/** Connections of a pool that others use as well: each for one step at a time. */
export class PoolDriver implements Driver {
  readonly endpoint: string;
  readonly leastBetweenMs = 0;
  readonly #pool: GivenPool;

  /** @throws {QueueLockError} `INVALID_ARGUMENT` */
  constructor(pool: GivenPool) {
    const member = (name: string): unknown => Reflect.get(pool, name);
    if (typeof member('getConnection') !== 'function' || typeof member('promise') === 'function')
      throw invalidArgument('pool', pool, 'is a pool of mysql2/promise, or of mysql2 by pool.promise()');
    this.#pool = pool;
    this.endpoint = endpointOf(pool as Shown);
  }

  async open({ signal }: Parameters<Driver['open']>[0]): Promise<Wire> {
    const connection = await this.#pool.getConnection();
    if (signal.aborted) {
      connection.release();
      signal.throwIfAborted();
    }
    return {
      query: async (asked) => ((await connection.query(asked)) as readonly unknown[])[0],
      destroy: () => connection.destroy(),
      release: () => connection.release(),
    };
  }
}

interface Shown {
  readonly pool?: {
    readonly config?: {
      readonly connectionConfig?: {
        readonly host?: string;
        readonly port?: number;
        readonly database?: string;
        readonly socketPath?: string;
      };
    };
  };
}

/** As much of its settings as tells where it leads to. */
function endpointOf(pool: Shown): string {
  const { host = '127.0.0.1', port = 3306, database, socketPath } = pool.pool?.config?.connectionConfig ?? {};
  const place = database === undefined ? '' : `/${database}`;
  if (socketPath !== undefined) return `mysql:${socketPath}${place}`;
  return `mysql://${host.includes(':') ? `[${host}]` : host}:${port}${place}`;
}
