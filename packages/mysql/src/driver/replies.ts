import { inspect } from 'node:util';
import { invalidArgument } from '@queuelock/core/backend';
import { textOf } from '../queue/sql.ts';
import type { Wire } from './driver.ts';

/** Returns each kind of value that steps return: a small and a large number, a sum (a decimal), a text as bytes, and null. */
const PROBE = `select 7 as small, 1900000000000001 as large, cast(7 as decimal(20, 0)) as total, x'74657874' as bytes, null as nothing,
  @@autocommit as autocommit`;

/**
 * Verifies that rows arrive in a form that steps read correctly. The options `decimalNumbers`, `supportBigNumbers`, `bigNumberStrings` and
 * `dateStrings` of a pool do no harm. A wrapper or another package may.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the pool changes rows
 */
export async function proveReplies(wire: Pick<Wire, 'query'>): Promise<void> {
  const rows = await wire.query(PROBE);
  const [row, ...others] = Array.isArray(rows) ? (rows as object[]) : [];
  if (row && others.length === 0 && isAsSent(row)) {
    requireAutocommit(row);
    return;
  }
  const rule =
    'returns rows as the server sent them, as [rows, fields]; use a pool of mysql2/promise or npm mariadb without wrappers that change rows';
  throw invalidArgument('pool', inspect(rows), rule);
}

/**
 * Throws if autocommit is off: a step would not be committed, and each read would show the state of the first one. A pool without a server has no
 * such value.
 */
function requireAutocommit({ autocommit }: { readonly autocommit?: unknown }): void {
  if (autocommit === undefined || Number(autocommit) === 1) return;
  const rule =
    'must be on: steps are committed one by one; use another pool for locks, the option url, or set autocommit = 1 for this user';
  throw invalidArgument('autocommit of the connections of pool', 'off', rule);
}

function isAsSent(row: unknown): boolean {
  const { small, large, total, bytes, nothing } = (row ?? {}) as Readonly<Record<string, unknown>>;
  return (
    Number(small) === 7 &&
    String(large) === '1900000000000001' &&
    Number(total) === 7 &&
    textOf(bytes) === 'text' &&
    nothing === null
  );
}

/** The result of a statement that returns no rows. */
interface Header {
  readonly affectedRows: unknown;
}

export function isHeader(part: unknown): part is Header {
  if (typeof part !== 'object' || part === null || !('affectedRows' in part)) return false;
  // npm mysql2 has the first property, and npm mariadb has the second one.
  return 'serverStatus' in part || 'warningStatus' in part;
}

/**
 * Returns the rows or the header of `[rows, fields]`.
 * @throws {Error} when this is no result of npm mysql2 or npm mariadb
 */
export function rowsOrHeaderOf(result: unknown): unknown {
  const [first] = Array.isArray(result) ? (result as unknown[]) : [];
  if (Array.isArray(first) || isHeader(first)) return first;
  throw new Error('the client library returned something else than [rows, fields]');
}
