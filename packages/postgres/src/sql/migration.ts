// Folder "sql": defines the tables, and the functions that change them.
// Each step is one function, so it takes effect as a whole. migration.ts (this file) creates all tables and functions. line.ts decides
// which entries are admitted.

import { ENTRIES } from './entries.ts';
import { LINE } from './line.ts';
import { SESSIONS } from './sessions.ts';
import { TABLES } from './tables.ts';
import { VIEWS } from './views.ts';

/** Format of the tables and functions of this release. Another release may have another format. */
export const FORMAT = 1;

/** The name of the schema if the options do not contain one. */
export const DEFAULT_SCHEMA = 'queuelock';

/**
 * Returns the statements that create the tables and functions in an empty schema. They are one text, to be run as one transaction in the
 * database of the locks, for instance by `psql --single-transaction`.
 * @param schema a lower-case name without quotes
 * @param role of the lock clients, if it does not run the statements itself; a name without quotes
 */
export function migrationOf(schema: string, role?: string): string {
  const text = [START, TABLES, LINE, ENTRIES, SESSIONS, VIEWS, ...grants(role)].join('');
  return text.replaceAll(/\bqueuelock\b/g, schema);
}

const START = `create schema if not exists queuelock;
set local search_path = queuelock, pg_catalog, pg_temp;
do $$ begin
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception using errcode = '22023', message = 'locks need a database in UTF8, and this one is in ' || current_setting('server_encoding');
  end if;
end $$;
`;

function grants(role: string | undefined): readonly string[] {
  if (role === undefined) return [];
  return [
    `\ngrant usage on schema queuelock to "${role}";\n`,
    `grant select, insert, update, delete on all tables in schema queuelock to "${role}";\n`,
  ];
}
