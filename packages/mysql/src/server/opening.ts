import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import type { Wire } from '../driver/driver.ts';
import { isAbsence, isDenial } from '../driver/errors.ts';
import { PARTS, STATEMENTS, VERSION } from '../schema/migration.ts';

/** Seconds for which a client waits while another client creates the tables. */
export const CREATION_TIMEOUT_S = 10;

/**
 * Returns whether the tables have the version of this release.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when they belong to a later release
 */
export async function hasTables(wire: Wire, endpoint: string): Promise<boolean> {
  return isPresent(await versionAt(wire), endpoint);
}

/**
 * Creates tables and procedures if they are absent.
 * @param isIncomplete whether a step has found a table or procedure absent although the version is right, as
 * after restoring a dump without procedures
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the tables belong to a later release, `ACCESS_DENIED` when
 * this user may not create them, `UNAVAILABLE` when another client is still creating them after 10 s
 */
export async function createTables(wire: Wire, endpoint: string, isIncomplete: boolean): Promise<void> {
  const [lock] = await request(
    wire,
    `select get_lock(concat('queuelock.', md5(database())), ${CREATION_TIMEOUT_S}) as it`,
  );
  if (Number(lock?.it) !== 1)
    throw new QueueLockError(
      'UNAVAILABLE',
      `${endpoint}: another client is creating the tables at this moment`,
    );
  try {
    const hasAll = (await hasTables(wire, endpoint)) && !(isIncomplete && (await lacksParts(wire)));
    if (!hasAll) await migrate(wire, endpoint);
  } finally {
    await request(wire, `select release_lock(concat('queuelock.', md5(database()))) as it`);
  }
}

function isPresent(version: number, endpoint: string): boolean {
  if (version <= VERSION) return version === VERSION;
  const rule = `has tables of version ${VERSION} at most: these are of a later release, version ${version}; use that release`;
  throw invalidArgument('database', endpoint, rule);
}

/** Returns the version of the tables, or 0 when they are absent or incomplete. */
async function versionAt(wire: Wire): Promise<number> {
  try {
    const [row] = await request(wire, 'select version as it from queuelock_meta where id = 1');
    return Number(row?.it ?? 0);
  } catch (error) {
    if (isAbsence(error) || isDenial(error)) return 0;
    throw error;
  }
}

/**
 * Returns whether tables or procedures are absent. Clients create them under a named lock of the server, and
 * the caller must hold that lock. Otherwise another client may just be removing procedures in order to create
 * them again.
 */
async function lacksParts(wire: Wire): Promise<boolean> {
  const [row] = await request(
    wire,
    `select (select count(*) from information_schema.tables where table_schema = database() and table_name like 'queuelock\\_%')
     + (select count(*) from information_schema.routines where routine_schema = database() and routine_name like 'queuelock\\_%') as it`,
  );
  return Number(row?.it) < PARTS;
}

async function migrate(wire: Wire, endpoint: string): Promise<void> {
  try {
    for (const sql of STATEMENTS) await request(wire, sql);
  } catch (cause) {
    if (!isDenial(cause)) throw cause;
    const message = `${endpoint}: the tables of queuelock do not exist, and this user may not create them. Ask an administrator to run the statements in node_modules/@queuelock/mysql/migration.sql, as by: mysql database < migration.sql. This user then needs: grant select, insert, update, delete, execute`;
    throw new QueueLockError('ACCESS_DENIED', message, { cause });
  }
}

async function request(wire: Wire, sql: string): Promise<readonly { readonly it: unknown }[]> {
  const response = await wire.query(sql);
  return Array.isArray(response) ? (response as { it: unknown }[]) : [];
}
