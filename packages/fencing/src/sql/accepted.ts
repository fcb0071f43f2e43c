import { invalidArgument } from '@queuelock/core/backend';

/**
 * The result of an update with `pg`, `postgres`, `mysql2`, `mariadb`, `node:sqlite`, `better-sqlite3`, Prisma
 * (the number of rows), Drizzle, Knex, TypeORM (on PostgreSQL, rows and number) or Kysely.
 */
export type SqlResult =
  | number
  | bigint
  | { readonly rowCount: number | null }
  | { readonly affectedRows: number | bigint; readonly insertId?: unknown }
  | { readonly changes: number | bigint }
  | { readonly count: number | null }
  | { readonly numAffectedRows?: bigint; readonly insertId?: unknown }
  | readonly [result: unknown, more: unknown];

const RULE =
  'is the result of an update: a number, or an object with rowCount, affectedRows, numAffectedRows, changes or count';

/**
 * Returns whether a `fencedUpdate` was accepted: it found its row, with no larger token. Otherwise a later holder has already written, or
 * there is no such row. `sqlOutcome` reports which, and with `expectAccepted` a refusal cannot be overlooked.
 *
 * The result is also right on MySQL connections that count changed rows instead of found ones, if it has an `insertId`. Prisma returns the
 * number alone: its connections have to count found rows, which is the default of its adapter.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the update wrote more than one row (roll back), or if `result` is not the result of an
 *   update.
 */
export function isAccepted(result: SqlResult): boolean {
  const rows = rowsOf(result);
  if (rows > 1) throw invalidArgument('where', `${String(rows)} rows`, 'names one row');
  return rows === 1;
}

function rowsOf(result: unknown): number {
  if (typeof result === 'number' || typeof result === 'bigint') return Number(result);
  if (typeof result !== 'object' || result === null) throw invalidArgument('result', result, RULE);
  for (const name of ['rowCount', 'changes', 'count'] as const)
    if (name in result) return toCount(Reflect.get(result, name));
  // Takes the count out of an array. TypeORM returns an array of the rows and their number. Other clients for
  // MySQL return an array of the result header, which contains the count, and the columns.
  if (Array.isArray(result)) return rowsOf(Array.isArray(result[0]) ? result[1] : result[0]);
  const { affectedRows, numAffectedRows, insertId } = result as Readonly<Record<string, unknown>>;
  // A MySQL connection that counts changed rows reports 0 for a found row whose values stay the same. Then the
  // insert id contains the row's token, which shows that one row was found.
  return Math.max(toCount(affectedRows ?? numAffectedRows), Number(insertId ?? 0) === 0 ? 0 : 1);
}

function toCount(rows: unknown): number {
  if (typeof rows === 'bigint') return Number(rows);
  if (typeof rows === 'number') return rows;
  throw invalidArgument('result', rows, RULE);
}
