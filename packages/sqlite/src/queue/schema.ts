import { invalidArgument } from '@queuelock/core/backend';
import type { Database } from '../driver/driver.ts';

/** The application id in the header of the file: `qlck`. */
export const APPLICATION_ID = 0x716c636b;

/**
 * The distance between the first fencing tokens of two boots of the machine. The file is not synced at every step, so a power failure may undo the
 * latest tokens. A boot uses fewer tokens than this, so the tokens of the next boot are always larger.
 */
export const TOKENS_PER_BOOT: number = 2 ** 32;

/**
 * The SQL scripts that upgrade an empty file to the present schema, one for each version. A file of version n has run the first n scripts, so a
 * script must never change after its publication. Names, values and texts are stored as bytes of UTF-8. Times are microseconds of the machine's
 * monotonic clock. The column `last` contains the order number of the newest entry. There are few indexes, since each one makes writes slower.
 */
export const STEPS: readonly string[] = [
  `
  create table boot (id text not null, last integer not null) strict;
  create table session (
    num integer primary key autoincrement,
    id text not null unique,
    generation integer not null,
    ttl integer not null,
    expires integer not null,
    inbox text not null,
    pid integer not null,
    started text not null,
    namespace text not null
  ) strict;
  create table entry (
    queue blob not null,
    ord integer not null,
    id text not null,
    session integer not null,
    shared integer not null,
    lim integer not null,
    permits integer not null,
    admitted integer not null,
    nth integer not null,
    value blob not null,
    primary key (queue, ord)
  ) strict, without rowid;
  create unique index entry_id on entry (session, id, queue);
  create index entry_waiting on entry (queue, ord) where admitted = 0;
  create index entry_limit on entry (queue, lim) where admitted = 0 and lim > 1;
  create table trace (queue blob not null, ord integer not null, primary key (queue, ord)) strict, without rowid;
  create table register (
    queue blob not null,
    kind text not null,
    version text not null,
    text blob not null,
    primary key (queue, kind)
  ) strict, without rowid;
  insert into boot (id, last) values ('', 0);
  `,
];

/** What a file is: empty, of another program, or a lock file of some version. */
export type FileKind =
  | { readonly kind: 'empty' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'ours'; readonly version: number };

/** Determines the kind of a file. It reads only the list of tables and the header. */
export function fileKindOf(db: Pick<Database, 'prepare'>): FileKind {
  // Reads the list of tables before the header. If another process creates the tables in between, the header
  // shows it, since both are committed together. So a lock file never seems to belong to another program.
  const tables = numberFrom(db, 'select count(*) from sqlite_schema');
  if (numberFrom(db, 'pragma application_id') === APPLICATION_ID)
    return { kind: 'ours', version: numberFrom(db, 'pragma user_version') };
  return { kind: tables === 0 ? 'empty' : 'foreign' };
}

/**
 * Checks that a file is new or of a known schema version.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a file of another program, and for a file of a later
 *   version
 */
export function requireUsable(fileKind: FileKind, file: string, steps: readonly string[] = STEPS): void {
  if (fileKind.kind === 'foreign') {
    throw invalidArgument(
      'file',
      file,
      'is a queuelock file or does not exist yet: this is a database of another program',
    );
  }
  if (fileKind.kind === 'ours' && fileKind.version > steps.length) {
    const rule = `has at most version ${steps.length}: this one has version ${fileKind.version}, of a later release; use that release`;
    throw invalidArgument('file', file, rule);
  }
}

/**
 * Upgrades the file to the present schema, within a transaction. Does not change a file that has this schema
 * already.
 */
export function upgrade(db: Database, fileKind: FileKind, steps: readonly string[] = STEPS): void {
  const version = fileKind.kind === 'ours' ? fileKind.version : 0;
  if (version === steps.length) return;
  for (const step of steps.slice(version)) db.exec(step);
  db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${steps.length}`);
}

/**
 * Records in the file that the machine has booted again. All earlier sessions end, and fencing tokens continue far above the earlier
 * ones.
 */
export function startBoot(db: Database, boot: string): void {
  const { changes } = db
    .prepare(`update boot set id = ?1, last = case id when '' then last else last + ?2 end where id <> ?1`)
    .run(boot, TOKENS_PER_BOOT);
  if (Number(changes) > 0) db.exec('delete from entry; delete from session');
}

/** Returns the first column of the first row that the query `sql` finds. */
export function numberFrom(db: Pick<Database, 'prepare'>, sql: string): number {
  const [value] = Object.values(db.prepare(sql).get() as Record<string, unknown>);
  return Number(value);
}
