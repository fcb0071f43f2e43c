// The classes that act as a store's operator are imported by path. They are in the tests of other packages,
// and no package exports tests.
/* eslint-disable no-restricted-imports */
import { Operator as MysqlOperator } from '../../packages/mysql/test/operator.ts';
import { Operator as RedisOperator } from '../../packages/redis/test/operator.ts';
import { Bench } from '../../packages/sqlite/test/bench.ts';
/* eslint-enable no-restricted-imports */
import { startRedis } from '@queuelock/harness/services';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { mysql } from '@queuelock/mysql';
import { postgres } from '@queuelock/postgres';
import { redis } from '@queuelock/redis';
import { sqlite } from '@queuelock/sqlite';
import { Pool } from 'pg';
import { forSure, type Store } from './store.ts';

const TTL_MS = 30_000;
const PREFIX = 'differential';

export async function startRedisStore(): Promise<Store> {
  const server = await startRedis({ way: 'process' });
  const operator = await RedisOperator.connect(server.endpoint, PREFIX);
  return {
    name: 'redis',
    ttlMs: TTL_MS,
    connect: () => redis({ url: `redis://${server.endpoint}`, prefix: PREFIX }),
    removeEntry: (_queue, { key }) => operator.evict(key),
    // Sets the end of the session's lease to the past. The next step of any client then ends the session.
    endSession: async (id) => void (await operator.redis.zadd(operator.key('sessions'), 'XX', 0, id)),
    stop: async () => {
      await operator.close();
      await server.stop();
    },
  };
}

export async function startPostgresStore(): Promise<Store> {
  const server = await startPostgres();
  const operator = new Pool({ connectionString: postgresUrl(server), max: 2 });
  return {
    name: 'postgres',
    ttlMs: TTL_MS,
    connect: () => postgres({ url: postgresUrl(server), connections: 2 }),
    removeEntry: async (queue, { order }) =>
      void (await operator.query('select queuelock.evict($1, $2)', [queue, String(order)])),
    endSession: async (id) =>
      void (await operator.query('update queuelock.session set expires = clock_timestamp() where id = $1', [
        id,
      ])),
    stop: async () => {
      await operator.end();
      await server.stop();
    },
  };
}

export async function startMariaDbStore(): Promise<Store> {
  const server = await startMariaDb();
  const operator = await MysqlOperator.connect(server.endpoint, 'locks');
  return {
    name: 'mariadb',
    ttlMs: TTL_MS,
    connect: () => mysql({ url: `mysql://root@${server.endpoint}/locks` }),
    removeEntry: (_queue, { key }) => forSure(() => operator.evict(key)),
    endSession: (id) =>
      forSure(() =>
        operator.run(`update queuelock_session set expires = utc_timestamp(6) where id = '${id}'`),
      ),
    stop: async () => {
      await operator.close();
      await server.stop();
    },
  };
}

export async function startSqliteStore(): Promise<Store> {
  const bench = new Bench();
  return {
    name: 'sqlite',
    ttlMs: TTL_MS,
    connect: () => sqlite({ file: bench.file }),
    removeEntry: (_queue, { key }) => bench.evict(key),
    endSession: (id) => bench.endSession(id),
    stop: () => bench.close(),
  };
}
