import { createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import type { Backend, Session } from '@queuelock/core/backend';
import { signal } from '@queuelock/harness/specs';
import { mysql, type MysqlPoolLike, type MysqlOptions } from '@queuelock/mysql';
import { OwnServer } from './servers.ts';

/**
 * Opens sessions for one suite, on a server that no other suite uses. The constructor defines the hooks of
 * the suite.
 */
export class Clients extends OwnServer {
  readonly #backends: Backend[] = [];
  readonly #sessions: Session[] = [];
  readonly #pools: Pool[] = [];

  constructor() {
    super();
    afterEach(async () => {
      await Promise.all(this.#sessions.splice(0).map((session) => session.close()));
      await Promise.all(this.#backends.splice(0).map((backend) => backend.close()));
      await Promise.all(this.#pools.splice(0).map((pool) => pool.end()));
    });
  }

  connect(options: MysqlOptions = {}): Backend {
    const backend = mysql({ ...(options.pool ? {} : { url: this.url }), ...options });
    this.#backends.push(backend);
    return backend;
  }

  pool(options: PoolOptions = {}): Pool {
    const pool = createPool({ uri: this.url, ...options });
    this.#pools.push(pool);
    return pool;
  }

  /**
   * Returns a pool, and a list of the statements that are sent over the pool. The list contains calls of
   * procedures by the names of the procedures.
   */
  counted(): { readonly pool: MysqlPoolLike; readonly requested: string[] } {
    const pool = this.pool();
    const requested: string[] = [];
    return {
      requested,
      pool: {
        async getConnection() {
          const connection = await pool.getConnection();
          return {
            query(options) {
              requested.push(/^call queuelock_(\w+)/.exec(options.sql)?.[1] ?? options.sql);
              return connection.query(options);
            },
            release: () => connection.release(),
            destroy: () => connection.destroy(),
          };
        },
      },
    };
  }

  async session(backend: Backend = this.connect(), ttlMs = 30_000): Promise<Session> {
    const session = await backend.open(ttlMs, signal);
    this.#sessions.push(session);
    return session;
  }
}
