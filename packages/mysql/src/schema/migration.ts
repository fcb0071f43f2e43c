// Chapter schema: how does a queue stand in the store, and which steps change it?
// Each step is a procedure, and so one change; all of them are made by a migration (here). line: whose turn it is.

import { ENTRIES } from './entries.ts';
import { LINE } from './line.ts';
import { SESSIONS } from './sessions.ts';
import { TABLES } from './tables.ts';

/** The form of the tables and procedures; those of a later one are left alone. */
export const VERSION = 1;

const PROCEDURES = [...LINE, ...SESSIONS, ...ENTRIES];

/** Whose rights count is whoever calls: nobody gets more by them. */
const CREATED = PROCEDURES.map(
  ([name, text]) =>
    `create procedure ${name} ${text.replace(/^(\w+: )?begin$/m, 'sql security invoker\n$&')}`,
);

/** Last: with it the migration is complete. */
const MARK = `insert into queuelock_meta (id, version, floor, tidied) values (1, ${VERSION}, 0, utc_timestamp(6))
  on duplicate key update version = ${VERSION}`;

/** One after the other; safe to repeat. */
export const STATEMENTS: readonly string[] = [
  ...TABLES,
  ...CREATED.flatMap((text, nth) => [`drop procedure if exists ${PROCEDURES[nth]?.[0]}`, text]),
  MARK,
];

/** How many tables and procedures there are. */
export const PARTS: number = TABLES.length + PROCEDURES.length;

/** The same as a script for the programs `mysql` and `mariadb`, which somebody with the rights for it can read and run. */
export const migration: string = [
  '-- The tables and procedures of queuelock, for `mysql` and `mariadb` on the database that its clients name.',
  '-- Those need no more than: grant select, insert, update, delete, execute on that database.* to them.',
  'delimiter //',
  ...STATEMENTS.map((text) => `${text} //`),
  'delimiter ;',
  '',
].join('\n');
