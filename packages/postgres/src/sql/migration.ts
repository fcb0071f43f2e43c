// Chapter sql: how does a queue stand in the store, and which steps change it?
// Each step is a function, and so one change; all of them are made by a migration (here). line: whose turn it is.

import { ENTRIES } from './entries.ts';
import { LINE } from './line.ts';
import { SESSIONS } from './sessions.ts';
import { TABLES } from './tables.ts';
import { VIEWS } from './views.ts';

/** What the tables and functions of this release are; another release may have another form. */
export const FORMAT = 1;

/** The schema, if it is not another one that is wished for. */
export const DEFAULT_SCHEMA = 'queuelock';

/**
 * The statements that make the tables and functions in an empty schema, for whoever may make them: one text, to be run as one transaction
 * in the database that holds the locks, as with `psql --single-transaction`. `role`: the user of the locks, if it is not the one who runs
 * them. Both are lower-case names without quotes.
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
