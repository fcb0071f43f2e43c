// Chapter driver: what is asked of SQLite, and what may it answer?
// The interface (here), and what failures mean (errors).

import { QueueLockError } from '@queuelock/core/backend';

/** What a statement takes and what a row has. Texts of users are bytes: a driver may end a string at its first NUL. */
type Value = number | string | null | Uint8Array;

/** A prepared statement of `node:sqlite`, as far as it is used. */
export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint };
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): readonly unknown[];
}

/** A connection of `node:sqlite`, as far as it is used. Every call is synchronous. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** The module, as far as it is used. */
export interface Driver {
  readonly DatabaseSync: new (path: string) => Database;
}

/** SQLite as Node has it, or else the package with the same interface. */
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
