import { closing } from '../base/closing.ts';
import { checkConnection, checkPool } from './check-pool.ts';
import type { Driver, Wire } from './driver.ts';
import { proveReplies } from './replies.ts';

/** A pool of `mysql2/promise`, as far as it is used. */
export interface GivenPool {
  /** A connection to use alone, until it is released or destroyed. */
  getConnection(): Promise<GivenConnection>;
}

/** One of its connections. */
export interface GivenConnection {
  /** Sends one statement. */
  query(statement: Statement): Promise<unknown>;
  /** Gives it back. */
  release(): void;
  /** Closes it, in the middle of whatever it does. */
  destroy(): void;
}

/** One statement, and how its rows are read: the settings of the pool do not apply. */
export interface Statement {
  readonly sql: string;
  /** None; without them a pool with `namedPlaceholders` would replace parts of the text. */
  readonly values: [];
  readonly rowsAsArray: boolean;
  readonly nestTables: boolean;
  /** A function, since a function of the pool prevails over anything else. */
  readonly typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** Connections of a pool that others use as well: each for one step at a time. */
export class PoolDriver implements Driver {
  readonly endpoint: string;
  readonly leastBetweenMs = 0;
  readonly #pool: GivenPool;
  #isProven = false;

  /** @throws {QueueLockError} `INVALID_ARGUMENT` */
  constructor(pool: GivenPool) {
    checkPool(pool);
    this.#pool = pool;
    this.endpoint = endpointOf(pool as Shown);
  }

  async open({ onEnd, signal }: Parameters<Driver['open']>[0]): Promise<Wire> {
    const connection = await this.#pool.getConnection();
    checkConnection(connection);
    const wire = {
      query: async (sql: string) => ((await connection.query(statementOf(sql))) as readonly unknown[])[0],
      destroy: closing(() => connection.destroy(), onEnd),
      release: closing(() => connection.release(), onEnd),
    };
    if (signal.aborted) wire.release();
    signal.throwIfAborted();
    if (!this.#isProven) await this.#prove(wire, signal);
    return wire;
  }

  async #prove(wire: Wire, signal: AbortSignal): Promise<void> {
    const destroy = (): void => {
      wire.destroy();
    };
    signal.addEventListener('abort', destroy, { once: true });
    try {
      await proveReplies(wire);
    } catch (error) {
      destroy();
      throw error;
    } finally {
      signal.removeEventListener('abort', destroy);
    }
    this.#isProven = true;
  }
}

function statementOf(sql: string): Statement {
  return { sql, values: [], rowsAsArray: false, nestTables: false, typeCast: (_field, next) => next() };
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
