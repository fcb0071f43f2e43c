import { closing } from '@queuelock/core/backend';
import { checkConnection, checkPool, refuseCallbacks } from './check-pool.ts';
import type { Driver, Wire } from './driver.ts';
import { proveReplies, rowsOrHeaderOf } from './replies.ts';

/** The part of a pool of `mysql2/promise` or npm mariadb that `mysql()` uses. */
export interface MysqlPoolLike {
  /** Resolves with a connection for exclusive use until it is released or destroyed. */
  getConnection(): Promise<MysqlConnectionLike>;
}

/** The part of a pool's connection that `mysql()` uses. */
export interface MysqlConnectionLike {
  /** Sends one statement on the connection. */
  query(statement: Statement): Promise<unknown>;
  /** Gives the connection back to the pool. */
  release(): void;
  /** Closes the connection at once, even while a statement runs. */
  destroy(): void;
}

/** One statement, with options for reading its rows that override those of the pool. */
export interface Statement {
  readonly sql: string;
  /**
   * Always an empty array. Without it, a pool with the option `namedPlaceholders` would replace texts such as
   * `:name` within `sql`.
   */
  readonly values: [];
  readonly rowsAsArray: boolean;
  readonly nestTables: boolean;
  /**
   * Makes npm mariadb resolve with the pair of rows and columns. npm mysql2 always does so, and ignores this
   * option.
   */
  readonly metaAsArray: true;
  /**
   * Converts a field as the client library does by default. Only a function overrides a `typeCast` function of
   * the pool.
   */
  readonly typeCast: (field: unknown, next: () => unknown) => never;
}

/**
 * The error number with which npm mariadb reports that a method expects a callback. A pool with this error is
 * refused.
 */
const NO_CALLBACK = 45_016;

/** Borrows connections from a pool that the application uses too. */
export class PoolDriver implements Driver {
  readonly endpoint: string;
  readonly leastBetweenMs = 0;
  readonly #pool: MysqlPoolLike;
  #isProven = false;

  /** Checks and keeps the pool. @throws {QueueLockError} `INVALID_ARGUMENT` when the pool cannot be used */
  constructor(pool: MysqlPoolLike) {
    checkPool(pool);
    this.#pool = pool;
    this.endpoint = endpointOf(pool as Shown);
  }

  exhaustion(): string | undefined {
    return exhaustionOf(this.#pool as Shown);
  }

  async open({ onEnd, signal }: Parameters<Driver['open']>[0]): Promise<Wire> {
    const connection = await this.#connection();
    checkConnection(connection);
    const unfollow = followEnd(connection, onEnd);
    const wire = {
      query: async (sql: string) => rowsOrHeaderOf(await connection.query(statementOf(sql))),
      destroy: closing(() => {
        unfollow();
        connection.destroy();
      }, onEnd),
      release: closing(() => {
        unfollow();
        connection.release();
      }, onEnd),
    };
    if (signal.aborted) wire.release();
    signal.throwIfAborted();
    if (!this.#isProven) await this.#prove(connection, wire, signal);
    return wire;
  }

  async #connection(): Promise<MysqlConnectionLike> {
    try {
      return await this.#pool.getConnection();
    } catch (error) {
      if (error instanceof Error && Reflect.get(error, 'errno') === NO_CALLBACK) throw refuseCallbacks();
      throw error;
    }
  }

  async #prove(connection: MysqlConnectionLike, wire: Wire, signal: AbortSignal): Promise<void> {
    const query = async (sql: string): Promise<unknown> => {
      const result: unknown = await connection.query(statementOf(sql));
      return Array.isArray(result) ? (result as unknown[])[0] : result;
    };
    const destroy = (): void => {
      wire.destroy();
    };
    signal.addEventListener('abort', destroy, { once: true });
    try {
      await proveReplies({ query });
    } catch (error) {
      destroy();
      throw error;
    } finally {
      signal.removeEventListener('abort', destroy);
    }
    this.#isProven = true;
  }
}

/**
 * Calls `onEnd` when a connection that emits events has ended or failed. The returned function removes the
 * listeners.
 */
function followEnd(
  connection: MysqlConnectionLike & Partial<Pick<NodeJS.EventEmitter, 'on' | 'removeListener'>>,
  onEnd: (error: unknown) => void,
): () => void {
  const onClosed = (): void => {
    onEnd(new Error('the connection was closed'));
  };
  connection.on?.('error', onEnd);
  connection.on?.('end', onClosed);
  return () => {
    connection.removeListener?.('error', onEnd);
    connection.removeListener?.('end', onClosed);
  };
}

/** Returns a statement with options that override the options of the pool, so that rows have a known form. */
export function statementOf(sql: string): Statement {
  return {
    ...{ sql, values: [], rowsAsArray: false, nestTables: false, metaAsArray: true },
    typeCast: (_field, next) => next() as never,
  };
}

/**
 * The properties from which the driver reads how many connections of a pool are in use. A pool of mysql2 has
 * its address and its connections, and a pool of npm mariadb has numbers of connections.
 */
interface Shown {
  readonly totalConnections?: () => unknown;
  readonly idleConnections?: () => unknown;
  readonly taskQueueSize?: () => unknown;
  readonly pool?: {
    readonly _allConnections?: { readonly length?: unknown };
    readonly _freeConnections?: { readonly length?: unknown };
    readonly _connectionQueue?: { readonly length?: unknown };
    readonly config?: {
      readonly connectionLimit?: unknown;
      readonly connectionConfig?: {
        readonly host?: string;
        readonly port?: number;
        readonly database?: string;
        readonly socketPath?: string;
      };
    };
  };
}

/** Returns the address of a pool's server, without user and password. npm mariadb does not show it. */
function endpointOf(pool: Shown): string {
  if (pool.pool === undefined) return 'mysql://(a pool)';
  const { host = '127.0.0.1', port = 3306, database, socketPath } = pool.pool.config?.connectionConfig ?? {};
  const place = database === undefined ? '' : `/${database}`;
  if (socketPath !== undefined) return `mysql:${socketPath}${place}`;
  return `mysql://${host.includes(':') ? `[${host}]` : host}:${port}${place}`;
}

function exhaustionOf(shown: Shown): string | undefined {
  const { pool } = shown;
  const [all, free, queued] = pool === undefined ? countsOf(shown) : lengthsOf(pool);
  // A pool of npm mariadb does not show its maximum number of connections. But it lets requests wait only
  // when all connections are in use.
  const limit = pool === undefined ? all : pool.config?.connectionLimit;
  if (typeof limit !== 'number' || typeof all !== 'number' || all < limit) return undefined;
  // A pool that has no connection at all is not exhausted: it cannot connect to the server.
  if (all === 0 || free !== 0 || queued === 0) return undefined;
  return `all ${limit} connections of the pool are in use, and ${Number(queued)} requests wait for one: set its option connectionLimit to at least 2 more than the application uses at a time`;
}

function countsOf(pool: Shown): readonly unknown[] {
  return [pool.totalConnections?.(), pool.idleConnections?.(), pool.taskQueueSize?.()];
}

function lengthsOf(pool: NonNullable<Shown['pool']>): readonly unknown[] {
  return [pool._allConnections, pool._freeConnections, pool._connectionQueue].map((list) => list?.length);
}
