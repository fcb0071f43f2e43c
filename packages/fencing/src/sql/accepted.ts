import { invalidArgument } from '@queuelock/core/backend';

/** The result of an update with `pg`, `mysql2`, `mariadb`, `node:sqlite` or `better-sqlite3`. */
export type SqlResult =
  | { readonly rowCount: number | null }
  | { readonly affectedRows: number | bigint; readonly insertId?: unknown }
  | { readonly changes: number | bigint };

/**
 * Returns whether a `claim` or a `fencedUpdate` was accepted: it found its row, with no larger token. Otherwise a later holder wrote
 * before, or there is no such row. `sqlOutcome` reports which, and with `expectAccepted` a refusal cannot be overlooked. The result is also
 * right on MySQL connections that count changed rows instead of found ones.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the update wrote more than one row (roll back), or if `result` is not the result of an
 *   update.
 */
export function isAccepted(result: SqlResult): boolean {
  const rows = rowsOf(result);
  if (rows > 1) throw invalidArgument('where', `${String(rows)} rows`, 'names one row');
  return rows === 1;
}

function rowsOf(result: SqlResult): number {
  if ('rowCount' in result) return toCount(result.rowCount);
  if ('changes' in result) return toCount(result.changes);
  const { affectedRows, insertId = 0 } = result;
  // On a connection that counts changed rows, a found row with unchanged values counts as 0. Its token is the insert id then.
  return Math.max(toCount(affectedRows), Number(insertId) === 0 ? 0 : 1);
}

function toCount(rows: unknown): number {
  if (typeof rows === 'bigint') return Number(rows);
  if (typeof rows === 'number') return rows;
  throw invalidArgument('result', rows, 'is the result of an update, with rowCount, affectedRows or changes');
}
