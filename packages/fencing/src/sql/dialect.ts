import { invalidArgument } from '@queuelock/core/backend';

/** The SQL dialect. `mysql` covers MariaDB as well. */
export type SqlDialect = 'postgres' | 'mysql' | 'sqlite';

/** The name of a table, or the schema (or database) and the table: `['billing', 'accounts']`. */
export type SqlTable = string | readonly [schema: string, table: string];

/** The differences between the databases. */
export interface Dialect {
  readonly numbered: boolean;
  readonly quote: '"' | '`';
  readonly maxIdentifier: {
    readonly count: (name: string) => number;
    readonly max: number;
    readonly unit: string;
  };
  /** Casts text to a signed 64-bit integer, exactly. MySQL may compare text and numbers as doubles. */
  readonly integer: (placeholder: string) => string;
  /** Casts a 64-bit integer to text. */
  readonly text: (column: string) => string;
  /**
   * Assigns a token so that a row counts as written even when it had that token already. MySQL can be set to count only changed rows. It
   * reports an unchanged row by its insert id then.
   */
  readonly assignment: (token: string) => string;
  readonly createFences: (table: string) => string;
  readonly insertIfAbsent: (table: string, name: string) => string;
  /** The suffix of a select that reads the latest committed row and locks it until the transaction ends. */
  readonly locking: string;
}

const bytesOf = (name: string): number => Buffer.byteLength(name);
const standardInsert = (table: string, name: string): string =>
  `INSERT INTO ${table} (name) VALUES (${name}) ON CONFLICT (name) DO NOTHING`;
const same = (token: string): string => token;

const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = {
  postgres: {
    numbered: true,
    quote: '"',
    // PostgreSQL truncates longer names without an error.
    maxIdentifier: { count: bytesOf, max: 63, unit: 'bytes' },
    integer: (placeholder) => `CAST(${placeholder} AS bigint)`,
    text: (column) => `CAST(${column} AS text)`,
    assignment: same,
    createFences: (table) =>
      `CREATE TABLE IF NOT EXISTS ${table} (name text PRIMARY KEY, token bigint NOT NULL DEFAULT 0)`,
    insertIfAbsent: standardInsert,
    locking: ' FOR UPDATE',
  },
  mysql: {
    numbered: false,
    quote: '`',
    maxIdentifier: { count: (name) => name.length, max: 64, unit: 'characters' },
    integer: (placeholder) => `CAST(${placeholder} AS SIGNED)`,
    text: (column) => `CAST(${column} AS CHAR)`,
    assignment: (token) => `LAST_INSERT_ID(${token})`,
    // The name is stored as bytes, since text is compared without case and trailing spaces. Other engines than InnoDB have no row locks and
    // no rollback.
    createFences: (table) =>
      `CREATE TABLE IF NOT EXISTS ${table} (name varbinary(512) PRIMARY KEY, token bigint NOT NULL DEFAULT 0) ENGINE=InnoDB`,
    insertIfAbsent: (table, name) =>
      `INSERT INTO ${table} (name) VALUES (${name}) ON DUPLICATE KEY UPDATE token = token`,
    locking: ' FOR UPDATE',
  },
  sqlite: {
    numbered: false,
    // SQLite reads an unknown name in double quotes as a string.
    quote: '`',
    maxIdentifier: { count: bytesOf, max: 128, unit: 'bytes' },
    integer: (placeholder) => `CAST(${placeholder} AS INTEGER)`,
    text: (column) => `CAST(${column} AS TEXT)`,
    assignment: same,
    createFences: (table) =>
      `CREATE TABLE IF NOT EXISTS ${table} (name TEXT NOT NULL PRIMARY KEY, token INTEGER NOT NULL DEFAULT 0)`,
    insertIfAbsent: standardInsert,
    locking: '',
  },
};

/** Returns the properties of a dialect. */
export function dialectOf(name: SqlDialect): Dialect {
  if (!Object.hasOwn(DIALECTS, name)) {
    throw invalidArgument('dialect', name, `is one of ${Object.keys(DIALECTS).join(', ')}`);
  }
  return DIALECTS[name];
}
