import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { SqlDialect, SqlQuery, SqlResult, SqlStatement } from '@queuelock/fencing';
import { createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { Client } from 'pg';
import { NotHere } from '@queuelock/harness/services/service';
import { mariaDbAccess, startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import type { ResourceKind } from './resource.ts';

type Row = Readonly<Record<string, unknown>>;

/** A connection of the database's own driver, with the driver's defaults. */
export interface SqlConnection {
  run(statement: Pick<SqlStatement, 'text' | 'values'>): Promise<SqlResult>;
  rows(statement: Pick<SqlStatement, 'text' | 'values'>): Promise<readonly Row[]>;
  exec(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface RunningDatabase {
  /** Connection string of the database, by which this process and others connect. */
  readonly place: string;
  readonly version: string;
  stop(): Promise<void>;
}

export interface Database {
  readonly kind: ResourceKind;
  readonly name: string;
  readonly dialect: SqlDialect;
  /** SQL statement with which a client begins a transaction that may write. */
  readonly begin: string;
  /** Starts a server of this database. Rejects with `NotHere` if it is not available. */
  start(): Promise<RunningDatabase>;
  connect(place: string): Promise<SqlConnection>;
}

const postgres: Database = {
  kind: 'postgres',
  name: 'PostgreSQL',
  dialect: 'postgres',
  begin: 'BEGIN',
  async start() {
    const server = await startPostgres();
    return { place: postgresUrl(server), version: server.version, stop: () => server.stop() };
  },
  async connect(place) {
    const client = new Client({ connectionString: place });
    // Ignores the client's event `error`, since a query on a lost connection rejects too.
    client.on('error', () => undefined);
    await client.connect();
    return {
      run: (statement) => client.query(statement),
      rows: async (statement) => (await client.query<Row>(statement)).rows,
      exec: async (text) => {
        await client.query(text);
      },
      close: () => client.end(),
    };
  },
};

/**
 * Connects to MariaDB with the npm package mysql2. `flags` are the connection flags of the package's option
 * of that name.
 */
export async function connectMariaDb(place: string, flags: string[] = []): Promise<SqlConnection> {
  const connection = await createConnection({ ...mariaDbAccess({ endpoint: place }), flags });
  connection.on('error', () => undefined);
  return {
    run: async ({ text, values }) => (await connection.execute<ResultSetHeader>(text, values as string[]))[0],
    rows: async ({ text, values }) =>
      (await connection.execute<RowDataPacket[]>(text, values as string[]))[0],
    exec: async (text) => {
      await connection.query(text);
    },
    close: () => connection.end(),
  };
}

const mariadb: Database = {
  kind: 'mariadb',
  name: 'MariaDB',
  dialect: 'mysql',
  begin: 'BEGIN',
  async start() {
    const server = await startMariaDb();
    return { place: server.endpoint, version: server.version, stop: () => server.stop() };
  },
  connect: (place) => connectMariaDb(place),
};

const sqlite: Database = {
  kind: 'sqlite',
  name: 'SQLite',
  dialect: 'sqlite',
  begin: 'BEGIN IMMEDIATE',
  async start() {
    const directory = mkdtempSync(join(tmpdir(), 'queuelock-sqlite-'));
    const place = join(directory, 'data.db');
    const database = new DatabaseSync(place);
    const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
    database.close();
    return { place, version, stop: async () => rmSync(directory, { recursive: true }) };
  },
  async connect(place) {
    // Makes SQLite accept text in double quotes as a string, as SQLite itself does by default and most of its
    // drivers do.
    const database = new DatabaseSync(place, { timeout: 5_000, enableDoubleQuotedStringLiterals: true });
    return {
      run: async ({ text, values }) => database.prepare(text).run(...values),
      rows: async ({ text, values }) => database.prepare(text).all(...values) as Row[],
      exec: async (text) => database.exec(text),
      close: async () => database.close(),
    };
  },
};

export const databases: readonly Database[] = [postgres, mariadb, sqlite];

/**
 * Returns the function by which a fenced write runs its SQL statements on the connection. It returns the rows
 * of a statement that reads.
 */
export function queryBy(connection: SqlConnection): SqlQuery {
  return (statement) => (statement.reads ? connection.rows(statement) : connection.run(statement));
}

/** Starts a database, or skips the tests of the Mocha context if it is not available. */
export async function startOrSkip(context: Mocha.Context, database: Database): Promise<RunningDatabase> {
  try {
    return await database.start();
  } catch (error) {
    if (!(error instanceof NotHere)) throw error;
    context['skipReason'] = `${database.name}: ${error.message}`;
    return context.skip();
  }
}

export function databaseOf(kind: ResourceKind): Database {
  return databases.find((database) => database.kind === kind)!;
}
