import { invalidArgument } from '@queuelock/core/backend';
import type { Database } from '../driver/driver.ts';

/** In the header of the file: `qlck`. */
export const APPLICATION_ID = 0x716c636b;

/**
 * What a power failure may have undone: the file is not written through at every step, so tokens that were handed out may be
 * forgotten. A new boot goes on this much higher, which is more than any boot gives out.
 */
export const TOKENS_PER_BOOT: number = 2 ** 32;

/**
 * The steps from an empty file to the present form; a file of version n has had the first n. Never change one, only add.
 * Names, values and texts are bytes of UTF-8, times are microseconds of the machine's monotonic clock. `last` is the newest order. A step
 * costs by the pages that it writes: so there are few indexes.
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

/** What a file is. */
export type Form =
  | { readonly kind: 'empty' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'ours'; readonly version: number };

/** Reads nothing but the list of tables and the header. */
export function formOf(db: Pick<Database, 'prepare'>): Form {
  // Others may make the file between the two: their tables come with their header, in one commit, so who sees tables sees whose they are.
  const tables = numberFrom(db, 'select count(*) from sqlite_schema');
  if (numberFrom(db, 'pragma application_id') === APPLICATION_ID)
    return { kind: 'ours', version: numberFrom(db, 'pragma user_version') };
  return { kind: tables === 0 ? 'empty' : 'foreign' };
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` for a file of somebody else, and for one of a later version. */
export function requireUsable(form: Form, file: string, steps: readonly string[] = STEPS): void {
  if (form.kind === 'foreign') {
    throw invalidArgument(
      'file',
      file,
      'is a queuelock file, or not there yet: this is a database of another program',
    );
  }
  if (form.kind === 'ours' && form.version > steps.length) {
    const rule = `has at most version ${steps.length}: this one is of a later release, version ${form.version}; use that release`;
    throw invalidArgument('file', file, rule);
  }
}

/** Brings the file to the present form, within a transaction. Does nothing to one that has it. */
export function upgrade(db: Database, form: Form, steps: readonly string[] = STEPS): void {
  const version = form.kind === 'ours' ? form.version : 0;
  if (version === steps.length) return;
  for (const step of steps.slice(version)) db.exec(step);
  db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${steps.length}`);
}

/** The first boot that sees the file: everybody of an earlier one is dead, and the tokens go on far above theirs. */
export function takeOver(db: Database, boot: string): void {
  const { changes } = db
    .prepare(`update boot set id = ?1, last = case id when '' then last else last + ?2 end where id <> ?1`)
    .run(boot, TOKENS_PER_BOOT);
  if (Number(changes) > 0) db.exec('delete from entry; delete from session');
}

/** The first column of the first row. */
export function numberFrom(db: Pick<Database, 'prepare'>, sql: string): number {
  const [value] = Object.values(db.prepare(sql).get() as Record<string, unknown>);
  return Number(value);
}
