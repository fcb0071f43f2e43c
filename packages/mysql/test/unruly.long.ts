import mariadb from 'mariadb';
import { createPool } from 'mysql2/promise';
import { createLockClient, type LockClient } from '@queuelock/core';
import { mysql, type MysqlOptions } from '@queuelock/mysql';
import { UnrulyCalls } from '@queuelock/harness/unruly';
import { signal } from '@queuelock/harness/specs';
import { expect } from 'chai';
import {
  holdsWithoutServer,
  survivesEveryScript,
  type UnrulyClient,
} from '@queuelock/harness/unruly-contest';
import { OwnServer } from './servers.ts';

type Pool = NonNullable<MysqlOptions['pool']>;

const METHODS = {
  query: 'async',
  on: 'sync',
  removeListener: 'sync',
  release: 'sync',
  destroy: 'sync',
} as const;
const TTL_MS = 1_500;

/** A pool of a client library, with the function that closes it. */
interface RealPool {
  readonly pool: Pool;
  readonly end: () => Promise<void>;
}

const LIBRARIES: Readonly<Record<string, (url: string) => RealPool>> = {
  'npm mysql2': (url) => {
    const real = createPool({ uri: url, connectionLimit: 40 });
    return { pool: real, end: () => real.end() };
  },
  'npm mariadb': (url) => {
    const { hostname, port, username, pathname } = new URL(url);
    const real = mariadb.createPool({
      ...{ host: hostname, port: Number(port), user: username, database: pathname.slice(1) },
      ...{ connectionLimit: 40, minimumIdle: 1 },
    });
    return { pool: real, end: () => real.end() };
  },
};

/** Wraps a pool and its connections so that their calls misbehave as `calls` prescribes. */
function scripted(pool: Pool, calls: UnrulyCalls): Pool {
  const getConnection = async (): Promise<Awaited<ReturnType<Pool['getConnection']>>> =>
    calls.of(await pool.getConnection(), METHODS);
  return calls.of({ ...shownBy(pool), getConnection }, { getConnection: 'async' });
}

/** Returns the properties by which the backend recognizes a pool of mysql2. */
function shownBy(pool: Pool): object {
  return 'pool' in pool ? { pool: pool.pool } : {};
}

for (const [library, make] of Object.entries(LIBRARIES))
  describe(`a misbehaving pool of ${library} that is passed to mysql()`, function () {
    this.timeout(600_000);
    const server = new OwnServer();
    const honest = (): LockClient => createLockClient(mysql({ url: server.url }), { ttlMs: TTL_MS });

    const unruly = (calls: UnrulyCalls): UnrulyClient => {
      const pool = scripted(make(server.url).pool, calls);
      return {
        locks: createLockClient(mysql({ pool, requestTimeoutMs: 200 }), { ttlMs: TTL_MS }),
        end: () => Promise.resolve(),
      };
    };

    it('causes no uncaught exception, and never lets two clients hold at the same time', async () => {
      await survivesEveryScript({ unruly, honest }, { seed: 1, numRuns: 15 });
    });

    it('makes open() reject with UNAVAILABLE after the request timeout if its queries never settle', async () => {
      // The first four calls succeed: they take a connection from the pool, add listeners to it, and verify
      // its replies. All later calls never settle.
      const silent = new UnrulyCalls(new Map(Array.from({ length: 50 }, (_, nth) => [nth + 4, 'stuck'])));
      const { pool, end } = make(server.url);
      const backend = mysql({ pool: scripted(pool, silent), requestTimeoutMs: 200 });
      const failure: unknown = await backend.open(TTL_MS, signal).catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'UNAVAILABLE');
      expect(Number(/within (\d+) ms/.exec(String(failure))?.[1])).to.be.at.most(200);
      await backend.close();
      await end();
    });

    it('does not extend a hold by replies that the server has not sent', async () => {
      expect(await holdsWithoutServer({ unruly, honest }, [[], []])).to.equal(false);
    });
  });
