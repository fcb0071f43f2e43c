// Folder "schema": defines the tables, and the procedures that change them.
// Each step is one procedure, so it takes effect as a whole. migration.ts (this file) creates all tables and procedures. line.ts decides
// which entries are admitted.

import { ENTRIES } from './entries.ts';
import { LINE } from './line.ts';
import { SESSIONS } from './sessions.ts';
import { TABLES } from './tables.ts';

/** Version of the tables and procedures of this release. Tables and procedures of a later version are not changed. */
export const VERSION = 1;

const PROCEDURES = [...LINE, ...SESSIONS, ...ENTRIES];

/**
 * Statements that create the procedures. A procedure runs with the rights of the user who calls it, so that
 * it gives users no further rights.
 */
const CREATED = PROCEDURES.map(
  ([name, text]) =>
    `create procedure ${name} ${text.replace(/^(\w+: )?begin$/m, 'sql security invoker\n$&')}`,
);

/**
 * The last statement of the migration. The row that it writes to `queuelock_meta` marks the migration as
 * complete.
 */
const MARK = `insert into queuelock_meta (id, version, floor, tidied) values (1, ${VERSION}, 0, utc_timestamp(6))
  on duplicate key update version = ${VERSION}`;

/** All statements of the migration, to be run in this order. Repeating them is safe. */
export const STATEMENTS: readonly string[] = [
  ...TABLES,
  ...CREATED.flatMap((text, nth) => [`drop procedure if exists ${PROCEDURES[nth]?.[0]}`, text]),
  MARK,
];

/**
 * The number of tables and procedures that a complete migration creates. A database with fewer of them is
 * incomplete.
 */
export const PARTS: number = TABLES.length + PROCEDURES.length;

/**
 * The statements that create the tables and procedures, as a script for the programs `mysql` and `mariadb`. An administrator runs it when the
 * user of the lock clients may not create tables. Repeating it is safe.
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { migration } from '@queuelock/mysql';
 *
 * // Then run: mysql database < migration.sql
 * writeFileSync('migration.sql', migration);
 * ```
 */
export const migration: string = [
  '-- The tables and procedures of queuelock, for `mysql` and `mariadb` on the database that its clients name.',
  '-- Those need no more than: grant select, insert, update, delete, execute on that database.* to them.',
  'delimiter //',
  ...STATEMENTS.map((text) => `${text} //`),
  'delimiter ;',
  '',
].join('\n');
