// Folder "driver": declares the calls to SQLite, and interprets their errors.
// driver.ts (this file) declares the interface. errors.ts converts errors.

import { QueueLockError } from '@queuelock/core/backend';

/** A parameter of an SQL statement, or a value of a row. Texts of users are stored as bytes, because a driver may end a string at its first NUL. */
type Value = number | string | null | Uint8Array;

/** The properties of a prepared statement of `node:sqlite` that this package uses. */
export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint };
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): readonly unknown[];
}

/** The properties of a connection of `node:sqlite` that this package uses. Every call is synchronous. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** The exports of `node:sqlite` that this package uses. */
export interface Driver {
  readonly DatabaseSync: new (path: string) => Database;
}

/** Loads SQLite: the built-in module of Node, or else the npm package with the same interface. */
export async function loadDriver(): Promise<Driver> {
  const builtin = process.getBuiltinModule('node:sqlite') as Driver | undefined;
  if (builtin) return builtin;
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    throw new QueueLockError(
      'INVALID_ARGUMENT',
      'SQLite cannot be loaded: install the package @photostructure/sqlite, or use Node 22.13 or later',
      { cause },
    );
  }
}
