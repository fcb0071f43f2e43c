import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDialect, SqlQuery } from '@queuelock/fencing';
import { mariaDbAccess } from '@queuelock/harness/services/mariadb-process';
import { sql as drizzleSql, type SQL } from 'drizzle-orm';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js';
import knex from 'knex';
import { Kysely, MysqlDialect, PostgresDialect, sql as kyselySql } from 'kysely';
import * as mariadb from 'mariadb';
import { createPool } from 'mysql2';
import { createPool as createPromisePool } from 'mysql2/promise';
import { Pool } from 'pg';
import postgresJs from 'postgres';
import { DataSource } from 'typeorm';
import { loadPrismaClient, type PrismaTransaction } from './prisma-client.ts';

/** A connection to a database as an application with one of the libraries uses it. */
export interface LibraryConnection {
  /** Runs a statement outside of a transaction. */
  readonly query: SqlQuery;
  /** Runs work in a transaction, which is rolled back if the work rejects. */
  transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A library that runs transactions on a database. */
export interface Library {
  readonly name: string;
  readonly dialect: Exclude<SqlDialect, 'sqlite'>;
  /** Connects to the database at `place` with at most five connections. */
  open(place: string): Promise<LibraryConnection>;
}

const mysqlAccess = (place: string) => ({ ...mariaDbAccess({ endpoint: place }), connectionLimit: 5 });

const byPrisma =
  (tx: PrismaTransaction): SqlQuery =>
  ({ strings, values, reads }) =>
    reads ? tx.$queryRaw(strings, ...values) : tx.$executeRaw(strings, ...values);

function prisma(dialect: Library['dialect']): Library['open'] {
  return async (place) => {
    const PrismaClient = await loadPrismaClient(dialect);
    const adapter =
      dialect === 'postgres'
        ? new PrismaPg({ connectionString: place, max: 5 })
        : new PrismaMariaDb(mysqlAccess(place));
    const client = new PrismaClient({ adapter });
    return {
      query: byPrisma(client),
      transaction: (work) => client.$transaction((tx) => work(byPrisma(tx)), { timeout: 30_000 }),
      close: () => client.$disconnect(),
    };
  };
}

interface DrizzleDatabase {
  execute(statement: SQL): PromiseLike<unknown>;
  transaction<T>(work: (tx: { execute(statement: SQL): PromiseLike<unknown> }) => Promise<T>): Promise<T>;
}

function drizzle(database: DrizzleDatabase, close: () => Promise<void>): LibraryConnection {
  const by =
    (tx: Pick<DrizzleDatabase, 'execute'>): SqlQuery =>
    ({ strings, values }) =>
      tx.execute(drizzleSql(strings, ...values));
  return { query: by(database), transaction: (work) => database.transaction((tx) => work(by(tx))), close };
}

function kysely(dialect: Library['dialect']): Library['open'] {
  return async (place) => {
    const database = new Kysely<object>({
      dialect:
        dialect === 'postgres'
          ? new PostgresDialect({ pool: new Pool({ connectionString: place, max: 5 }) })
          : new MysqlDialect({ pool: createPool(mysqlAccess(place)) }),
    });
    const by =
      (trx: Kysely<object>): SqlQuery =>
      ({ strings, values }) =>
        kyselySql(strings, ...values).execute(trx);
    return {
      query: by(database),
      transaction: (work) => database.transaction().execute((trx) => work(by(trx))),
      close: () => database.destroy(),
    };
  };
}

function byKnex(dialect: Library['dialect']): Library['open'] {
  return async (place) => {
    const database = knex({
      client: dialect === 'postgres' ? 'pg' : 'mysql2',
      connection: dialect === 'postgres' ? place : mariaDbAccess({ endpoint: place }),
      pool: { min: 0, max: 5 },
    });
    const by =
      (trx: Pick<typeof database, 'raw'>): SqlQuery =>
      ({ strings, values }) =>
        trx.raw(strings.join('?'), values as string[]);
    return {
      query: by(database),
      transaction: (work) => database.transaction((trx) => work(by(trx))),
      close: () => database.destroy(),
    };
  };
}

function typeorm(dialect: Library['dialect']): Library['open'] {
  return async (place) => {
    const { user, ...access } = mysqlAccess(dialect === 'mysql' ? place : '127.0.0.1:1');
    const source = new DataSource(
      dialect === 'postgres'
        ? { type: 'postgres', url: place, poolSize: 5 }
        : { type: 'mariadb', ...access, username: user },
    );
    await source.initialize();
    const by =
      (manager: Pick<DataSource, 'query'>): SqlQuery =>
      ({ text, values }) =>
        manager.query(text, values);
    return {
      query: by(source),
      transaction: (work) => source.transaction((manager) => work(by(manager))),
      close: () => source.destroy(),
    };
  };
}

async function postgresJsConnection(place: string): Promise<LibraryConnection> {
  const sql = postgresJs(place, { max: 5, onnotice: () => undefined });
  const by =
    (tx: postgresJs.ISql): SqlQuery =>
    ({ strings, values }) =>
      tx(strings, ...(values as string[]));
  return {
    query: by(sql),
    transaction: (work) => sql.begin((tx) => work(by(tx))) as ReturnType<typeof work>,
    close: () => sql.end(),
  };
}

async function mariadbConnection(place: string): Promise<LibraryConnection> {
  const pool = mariadb.createPool(mysqlAccess(place));
  const by =
    (connection: Pick<mariadb.Connection, 'execute'>): SqlQuery =>
    ({ text, values }) =>
      connection.execute(text, values);
  return {
    query: by(pool),
    async transaction(work) {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        const result = await work(by(connection));
        await connection.commit();
        return result;
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        await connection.release();
      }
    },
    close: () => pool.end(),
  };
}

/** The database libraries whose transactions the tests use for fences. */
export const LIBRARIES: readonly Library[] = [
  ...(['postgres', 'mysql'] as const).flatMap((dialect): readonly Library[] => [
    { name: 'Prisma', dialect, open: prisma(dialect) },
    { name: 'Kysely', dialect, open: kysely(dialect) },
    { name: 'Knex', dialect, open: byKnex(dialect) },
    { name: 'TypeORM', dialect, open: typeorm(dialect) },
  ]),
  {
    name: 'Drizzle over pg',
    dialect: 'postgres',
    async open(place) {
      const pool = new Pool({ connectionString: place, max: 5 });
      return drizzle(drizzlePg(pool), () => pool.end());
    },
  },
  {
    name: 'Drizzle over postgres.js',
    dialect: 'postgres',
    async open(place) {
      const sql = postgresJs(place, { max: 5, onnotice: () => undefined });
      return drizzle(drizzlePostgresJs(sql), () => sql.end());
    },
  },
  {
    name: 'Drizzle',
    dialect: 'mysql',
    async open(place) {
      const pool = createPromisePool(mysqlAccess(place));
      return drizzle(drizzleMysql(pool), () => pool.end());
    },
  },
  { name: 'postgres.js', dialect: 'postgres', open: postgresJsConnection },
  { name: 'mariadb', dialect: 'mysql', open: mariadbConnection },
];
