import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import type { Wire } from '../driver/driver.ts';
import { isAbsence, isDenial } from '../driver/errors.ts';
import { PARTS, STATEMENTS, VERSION } from '../schema/migration.ts';

/** Somebody else makes them just now: how long to wait, in seconds. */
const PATIENCE_S = 10;

/**
 * Sees to it that tables and procedures are there, and makes them if they are not and this user may. `isIncomplete`: a step has found that
 * one is absent, as after the restore of a dump without procedures, whatever the version says.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for those of a later release, `ACCESS_DENIED` where somebody else has to make them.
 */
export async function makeReady(wire: Wire, endpoint: string, isIncomplete: boolean): Promise<void> {
  if (!isIncomplete && isPresent(await versionAt(wire), endpoint)) return;
  const [lock] = await ask(
    wire,
    `select get_lock(concat('queuelock.', md5(database())), ${PATIENCE_S}) as it`,
  );
  if (Number(lock?.it) !== 1)
    throw new QueueLockError('UNAVAILABLE', `${endpoint}: somebody else makes the tables at this moment`);
  try {
    const hasAll = isPresent(await versionAt(wire), endpoint) && !(isIncomplete && (await lacksParts(wire)));
    if (!hasAll) await migrate(wire, endpoint);
  } finally {
    await ask(wire, `select release_lock(concat('queuelock.', md5(database()))) as it`);
  }
}

function isPresent(version: number, endpoint: string): boolean {
  if (version <= VERSION) return version === VERSION;
  const rule = `has tables of version ${VERSION} at most: these are of a later release, version ${version}; use that release`;
  throw invalidArgument('database', endpoint, rule);
}

/** 0: they are not there, or not complete. */
async function versionAt(wire: Wire): Promise<number> {
  try {
    const [row] = await ask(wire, 'select version as it from queuelock_meta where id = 1');
    return Number(row?.it ?? 0);
  } catch (error) {
    if (isAbsence(error) || isDenial(error)) return 0;
    throw error;
  }
}

/** Asked under the lock: another client may have made them meanwhile, and procedures that are made anew are absent for a moment. */
async function lacksParts(wire: Wire): Promise<boolean> {
  const [row] = await ask(
    wire,
    `select (select count(*) from information_schema.tables where table_schema = database() and table_name like 'queuelock\\_%')
     + (select count(*) from information_schema.routines where routine_schema = database() and routine_name like 'queuelock\\_%') as it`,
  );
  return Number(row?.it) < PARTS;
}

async function migrate(wire: Wire, endpoint: string): Promise<void> {
  try {
    for (const sql of STATEMENTS) await ask(wire, sql);
  } catch (cause) {
    if (!isDenial(cause)) throw cause;
    const message = `${endpoint}: the tables of queuelock are not there, and this user may not make them. Have somebody run the statements in node_modules/@queuelock/mysql/migration.sql, as by: mysql database < migration.sql. This user then needs: grant select, insert, update, delete, execute`;
    throw new QueueLockError('ACCESS_DENIED', message, { cause });
  }
}

async function ask(wire: Wire, sql: string): Promise<readonly { readonly it: unknown }[]> {
  const answer = await wire.query(sql);
  return Array.isArray(answer) ? (answer as { it: unknown }[]) : [];
}
