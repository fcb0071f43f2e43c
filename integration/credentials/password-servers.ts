import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startRedis } from '@queuelock/harness/services';
import { mariaDbAccess, startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { createClient } from 'redis';
import type { StartPasswordServer } from './passwords.ts';

/** Starts a Redis server that has a user with the given name and password. */
export const redisWithUser: StartPasswordServer = async ({ username, password: first }) => {
  const server = await startRedis({ way: 'process' });
  const operator = createClient({ url: `redis://${server.endpoint}` });
  await operator.connect();
  const set = async (password: string): Promise<void> => {
    await operator.sendCommand([
      'ACL',
      'SETUSER',
      username,
      'reset',
      'on',
      `>${password}`,
      '~*',
      '&*',
      '+@all',
    ]);
    await operator.sendCommand(['CLIENT', 'KILL', 'USER', username]);
  };
  await set(first);
  return {
    store: {
      module: import.meta.resolve('@queuelock/redis'),
      backend: 'redis',
      options: { url: `redis://${server.endpoint}` },
    },
    change: set,
    async stop() {
      operator.destroy();
      await server.stop();
    },
  };
};

/**
 * Returns a function that starts a PostgreSQL server with a user. The npm package `driver` connects the
 * test's clients to it.
 */
export function postgresWithUser(driver: 'pg' | 'postgres'): StartPasswordServer {
  return async ({ username, password: first }) => {
    const server = await startPostgres();
    const operator = new Client({ connectionString: postgresUrl(server) });
    await operator.connect();
    await operator.query(`create role ${username} login superuser password '${first}'`);
    // Makes PostgreSQL ask the test's user for a password. It trusts all other users.
    const access = join(server.directory, 'data', 'pg_hba.conf');
    const rule = `host all ${username} 127.0.0.1/32 scram-sha-256\n`;
    await writeFile(access, rule + (await readFile(access, 'utf8')));
    await operator.query('select pg_reload_conf()');
    return {
      store: {
        module: import.meta.resolve('@queuelock/postgres'),
        backend: 'postgres',
        options: { url: `postgres://${server.endpoint}/postgres`, driver },
      },
      change: async (password) => {
        await operator.query(`alter role ${username} password '${password}'`);
        await operator.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [
          username,
        ]);
      },
      async stop() {
        await operator.end();
        await server.stop();
      },
    };
  };
}

/**
 * Returns a function that starts a MariaDB server with a user. The npm package `driver` connects the test's
 * clients to it.
 */
export function mariadbWithUser(driver: 'mysql2' | 'mariadb'): StartPasswordServer {
  return async ({ username, password: first }) => {
    const server = await startMariaDb();
    const operator = await createConnection(mariaDbAccess(server));
    // Creates the user for the host `localhost`. Otherwise MariaDB would prefer its anonymous user of that
    // host.
    const user = `${username}@localhost`;
    await operator.query(`create user ${user} identified by '${first}'`);
    await operator.query(`grant all on test.* to ${user}`);
    return {
      store: {
        module: import.meta.resolve('@queuelock/mysql'),
        backend: 'mysql',
        options: { url: `mysql://${server.endpoint}/test`, driver },
      },
      change: async (password) => {
        await operator.query(`alter user ${user} identified by '${password}'`);
        await operator.query(`kill user ${username}`);
      },
      async stop() {
        await operator.end();
        await server.stop();
      },
    };
  };
}
