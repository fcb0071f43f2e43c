import { invalidArgument } from '@queuelock/core/backend';

/** The result of an update, of `pg`, of `mysql2` and `mariadb`, or of `node:sqlite` and `better-sqlite3`. */
export type SqlResult =
  | { readonly rowCount: number | null }
  | { readonly affectedRows: number | bigint; readonly insertId?: unknown }
  | { readonly changes: number | bigint };

/**
 * Whether a `claim` or a `fencedUpdate` was accepted: it found its row, with no larger token. If not, a later holder was there, or
 * there is no such row: `sqlAnswer` tells which, and with `expectAccepted` cannot be overlooked. Right also on connections of MySQL that count changed rows instead of found ones.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if it was more than one row (roll back), or no result of an update.
 */
export function isAccepted(result: SqlResult): boolean {
  const rows = rowsOf(result);
  if (rows > 1) throw invalidArgument('where', `${String(rows)} rows`, 'names one row');
  return rows === 1;
}

function rowsOf(result: SqlResult): number {
  if ('rowCount' in result) return counted(result.rowCount);
  if ('changes' in result) return counted(result.changes);
  const { affectedRows, insertId = 0 } = result;
  // A row that was found and had these very values: its count is 0 on such a connection, and its token the insert id.
  return Math.max(counted(affectedRows), Number(insertId) === 0 ? 0 : 1);
}

function counted(rows: unknown): number {
  if (typeof rows === 'bigint') return Number(rows);
  if (typeof rows === 'number') return rows;
  throw invalidArgument('result', rows, 'is that of an update, with rowCount, affectedRows or changes');
}
