import pg from 'pg';
import type { Backend, Session } from '@queuelock/core/backend';
import { signal } from '@queuelock/harness/specs';
import { postgres, type PostgresOptions } from '@queuelock/postgres';
import { OwnServer } from './servers.ts';

/**
 * Opens sessions for one suite, on a server that no other suite uses. The constructor defines the hooks of
 * the suite.
 */
export class Clients extends OwnServer {
  readonly #backends: Backend[] = [];
  readonly #sessions: Session[] = [];
  readonly #pools: pg.Pool[] = [];

  constructor() {
    super();
    afterEach(async () => {
      await Promise.all(this.#sessions.splice(0).map((session) => session.close()));
      await Promise.all(this.#backends.splice(0).map((backend) => backend.close()));
      await Promise.all(this.#pools.splice(0).map((pool) => pool.end()));
    });
  }

  connect(options: PostgresOptions = {}): Backend {
    const backend = postgres({ ...(options.pool ? {} : { url: this.url }), ...options });
    this.#backends.push(backend);
    return backend;
  }

  /**
   * Returns a pool, and a list of the statements that are sent over the pool. The list contains calls of SQL
   * functions by the names of the functions.
   */
  pool(config: pg.PoolConfig = {}): { readonly pool: pg.Pool; readonly requested: string[] } {
    const pool = new pg.Pool({ connectionString: this.url, ...config });
    const requested: string[] = [];
    // Ignores the pool's error event, because the caller gets the same error from its statement.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: readonly unknown[]) => unknown;
      const counted = (...args: readonly unknown[]): unknown => {
        const [requesting] = args as readonly (string | { readonly text: string })[];
        const text = typeof requesting === 'string' ? requesting : (requesting?.text ?? '');
        requested.push(/^select \w+\.(\w+)\(/.exec(text)?.[1] ?? text);
        return query(...args);
      };
      Object.assign(client, { query: counted });
    });
    this.#pools.push(pool);
    return { pool, requested };
  }

  async session(backend: Backend = this.connect(), ttlMs = 30_000): Promise<Session> {
    const session = await backend.open(ttlMs, signal);
    this.#sessions.push(session);
    return session;
  }
}
