import { invalidArgument } from '@queuelock/core/backend';

/** The SQL dialect of the database. Use `mysql` for MariaDB as well. */
export type SqlDialect = 'postgres' | 'mysql' | 'sqlite';

/** The name of a table, or the schema (or database) and the table: `['billing', 'accounts']`. */
export type SqlTable = string | readonly [schema: string, table: string];

/** The SQL fragments and limits in which PostgreSQL, MySQL and SQLite differ. */
export interface Dialect {
  readonly numbered: boolean;
  readonly quote: '"' | '`';
  readonly maxIdentifier: {
    readonly count: (name: string) => number;
    readonly max: number;
    readonly unit: string;
  };
  /**
   * Casts text to a signed 64-bit integer, exactly. Without the cast, MySQL may compare text and numbers as
   * doubles. On PostgreSQL, an inner cast declares the parameter as text, since some clients encode a parameter
   * by its declared type.
   */
  readonly integer: (placeholder: string) => string;
  /** Casts a 64-bit integer to text. */
  readonly text: (column: string) => string;
  /**
   * Returns the expression that assigns a token, such that a row counts as written even when it had that
   * token already. MySQL can be set to count only changed rows. An unchanged row is then recognized by the
   * insert id, which contains its token.
   */
  readonly assignment: (token: string) => string;
  /** The statement that creates the table of fencing tokens (`sqlFences`) in a migration, where no other process creates it at the same time. */
  readonly createFences: (table: string) => string;
  /**
   * The statement that creates the table of fencing tokens unless it exists, also while other processes do
   * the same.
   */
  readonly ensureFences: (table: string) => string;
  /**
   * Returns the statement that inserts the row of a lock name or raises the token in it, and locks the row. Each call of `token` returns one more
   * placeholder for the token.
   */
  readonly raise: (table: string, name: string, token: () => string) => string;
  /**
   * Whether the statement that `raise` returns also returns the stored token. Otherwise a further statement
   * reads it.
   */
  readonly raiseReads: boolean;
  /** The suffix of a select that reads the latest committed row and locks it until the transaction ends. */
  readonly locking: string;
}

const bytesOf = (name: string): number => Buffer.byteLength(name);
const POSTGRES_FENCES = '(name text PRIMARY KEY, token bigint NOT NULL DEFAULT 0)';
/** Key of the advisory lock under which PostgreSQL creates the table of fencing tokens. */
const POSTGRES_CREATION = "hashtext('queuelock'), hashtext('create fences')";

/** Returns a text as a literal of standard SQL. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const upsert = (table: string, values: string, larger: 'GREATEST' | 'MAX'): string =>
  `INSERT INTO ${table} AS fence (name, token) VALUES (${values}) ON CONFLICT (name) DO UPDATE SET token = ${larger}(fence.token, excluded.token)`;
/**
 * The statement that creates the table of fencing tokens on MySQL. The name is stored as bytes, since MySQL
 * compares text without case and trailing spaces. Other engines than InnoDB have no row locks and no
 * rollback.
 */
const createMysqlFences = (table: string): string =>
  `CREATE TABLE IF NOT EXISTS ${table} (name varbinary(512) PRIMARY KEY, token bigint NOT NULL DEFAULT 0) ENGINE=InnoDB`;
const createSqliteFences = (table: string): string =>
  `CREATE TABLE IF NOT EXISTS ${table} (name TEXT NOT NULL PRIMARY KEY, token INTEGER NOT NULL DEFAULT 0)`;
const same = (token: string): string => token;

const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = {
  postgres: {
    numbered: true,
    quote: '"',
    // Names of more than 63 bytes are refused, because PostgreSQL truncates them without an error.
    maxIdentifier: { count: bytesOf, max: 63, unit: 'bytes' },
    integer: (placeholder) => `CAST(CAST(${placeholder} AS text) AS bigint)`,
    text: (column) => `CAST(${column} AS text)`,
    assignment: same,
    createFences: (table) => `CREATE TABLE IF NOT EXISTS ${table} ${POSTGRES_FENCES}`,
    // Adds a lock and a check to IF NOT EXISTS, which fails in two cases. While another session creates the
    // table, the statement fails with a duplicate key in PostgreSQL's catalog. A user without the right to
    // create tables is refused even if the table exists.
    ensureFences: (table) => `DO $queuelock$ BEGIN
IF to_regclass(${literal(table)}) IS NULL THEN
PERFORM pg_advisory_xact_lock(${POSTGRES_CREATION});
CREATE TABLE IF NOT EXISTS ${table} ${POSTGRES_FENCES};
END IF;
END $queuelock$`,
    raise: (table, name, token) =>
      `${upsert(table, `${name}, CAST(CAST(${token()} AS text) AS bigint)`, 'GREATEST')} RETURNING CAST(fence.token AS text) AS token`,
    raiseReads: true,
    locking: ' FOR UPDATE',
  },
  mysql: {
    numbered: false,
    quote: '`',
    maxIdentifier: { count: (name) => name.length, max: 64, unit: 'characters' },
    integer: (placeholder) => `CAST(${placeholder} AS SIGNED)`,
    text: (column) => `CAST(${column} AS CHAR)`,
    assignment: (token) => `LAST_INSERT_ID(${token})`,
    createFences: createMysqlFences,
    ensureFences: createMysqlFences,
    raise: (table, name, token) =>
      `INSERT INTO ${table} (name, token) VALUES (${name}, CAST(${token()} AS SIGNED)) ON DUPLICATE KEY UPDATE token = GREATEST(token, CAST(${token()} AS SIGNED))`,
    raiseReads: false,
    locking: ' FOR UPDATE',
  },
  sqlite: {
    numbered: false,
    // Names are quoted with backticks, because SQLite reads an unknown name in double quotes as a string.
    quote: '`',
    maxIdentifier: { count: bytesOf, max: 128, unit: 'bytes' },
    integer: (placeholder) => `CAST(${placeholder} AS INTEGER)`,
    text: (column) => `CAST(${column} AS TEXT)`,
    assignment: same,
    createFences: createSqliteFences,
    ensureFences: createSqliteFences,
    raise: (table, name, token) =>
      `${upsert(table, `${name}, CAST(${token()} AS INTEGER)`, 'MAX')} RETURNING CAST(token AS TEXT) AS token`,
    raiseReads: true,
    locking: '',
  },
};

/** Returns the SQL fragments and limits of a database, given by its dialect. */
export function dialectOf(name: SqlDialect): Dialect {
  if (!Object.hasOwn(DIALECTS, name)) {
    throw invalidArgument('dialect', name, `is one of ${Object.keys(DIALECTS).join(', ')}`);
  }
  return DIALECTS[name];
}
