import { invalidArgument } from '@queuelock/core/backend';

/** `mysql` is MariaDB as well. */
export type SqlDialect = 'postgres' | 'mysql' | 'sqlite';

/** A table's name; with the schema (or database) in front as two texts: `['billing', 'accounts']`. */
export type SqlTable = string | readonly [schema: string, table: string];

/** How the databases differ. */
export interface Dialect {
  readonly numbered: boolean;
  readonly quote: '"' | '`';
  readonly maxIdentifier: {
    readonly count: (name: string) => number;
    readonly most: number;
    readonly unit: string;
  };
  /** Casts text to a signed integer of 64 bits, exactly. MySQL may compare text and numbers as doubles. */
  readonly integer: (placeholder: string) => string;
  /** Casts such an integer to text. */
  readonly text: (column: string) => string;
  /**
   * Assigns a token so that a row counts as written also where it had that token already: MySQL can be set to count
   * changed rows only, and then tells of this one by its insert id.
   */
  readonly assigned: (token: string) => string;
  readonly createFences: (table: string) => string;
  readonly insertIfAbsent: (table: string, name: string) => string;
  /** Behind a select that reads what is committed now and keeps it until the transaction ends. */
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
    // Longer names are cut without an error.
    maxIdentifier: { count: bytesOf, most: 63, unit: 'bytes' },
    integer: (placeholder) => `CAST(${placeholder} AS bigint)`,
    text: (column) => `CAST(${column} AS text)`,
    assigned: same,
    createFences: (table) =>
      `CREATE TABLE IF NOT EXISTS ${table} (name text PRIMARY KEY, token bigint NOT NULL DEFAULT 0)`,
    insertIfAbsent: standardInsert,
    locking: ' FOR UPDATE',
  },
  mysql: {
    numbered: false,
    quote: '`',
    maxIdentifier: { count: (name) => name.length, most: 64, unit: 'characters' },
    integer: (placeholder) => `CAST(${placeholder} AS SIGNED)`,
    text: (column) => `CAST(${column} AS CHAR)`,
    assigned: (token) => `LAST_INSERT_ID(${token})`,
    // As bytes: text is compared without case and without trailing spaces. InnoDB: others have neither row locks nor rollback.
    createFences: (table) =>
      `CREATE TABLE IF NOT EXISTS ${table} (name varbinary(512) PRIMARY KEY, token bigint NOT NULL DEFAULT 0) ENGINE=InnoDB`,
    insertIfAbsent: (table, name) =>
      `INSERT INTO ${table} (name) VALUES (${name}) ON DUPLICATE KEY UPDATE token = token`,
    locking: ' FOR UPDATE',
  },
  sqlite: {
    numbered: false,
    // An unknown name in double quotes would be taken for a text.
    quote: '`',
    maxIdentifier: { count: bytesOf, most: 128, unit: 'bytes' },
    integer: (placeholder) => `CAST(${placeholder} AS INTEGER)`,
    text: (column) => `CAST(${column} AS TEXT)`,
    assigned: same,
    createFences: (table) =>
      `CREATE TABLE IF NOT EXISTS ${table} (name TEXT NOT NULL PRIMARY KEY, token INTEGER NOT NULL DEFAULT 0)`,
    insertIfAbsent: standardInsert,
    locking: '',
  },
};

/** What is known of a dialect. */
export function dialectOf(name: SqlDialect): Dialect {
  if (!Object.hasOwn(DIALECTS, name)) {
    throw invalidArgument('dialect', name, `is one of ${Object.keys(DIALECTS).join(', ')}`);
  }
  return DIALECTS[name];
}
