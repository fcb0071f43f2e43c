import { checkedObject, invalidArgument, QueueLockError } from '@queuelock/core/backend';
import { optionalName, describeHold } from '../hold.ts';
import { refusedBy, type FenceOutcome } from '../outcome.ts';
import { isAccepted, type SqlResult } from './accepted.ts';
import type { FencedStatement, SqlStatement } from './statement.ts';

/** The outcome of a write behind a fence in a database. */
export type SqlOutcome =
  | FenceOutcome
  /**
   * The write was refused, but not because of a later holder. The row does not exist, the name was never registered, or (`once`) this hold
   * has already had its effect.
   */
  | { readonly outcome: 'missing' | 'unregistered' | 'repeated'; readonly reason: string };

/**
 * Runs a statement with your client and returns the result of the driver. For an update that is an {@link SqlResult}. For a select it is
 * the list of rows, or an object with the list under `rows`. The array of `mysql2`, with the columns behind either, is accepted too. For
 * `pg`, use `(statement) => client.query(statement)`.
 */
export type SqlQuery = (statement: SqlStatement) => unknown;

/**
 * Runs a `fencedUpdate` or a `claim`. If it was not accepted, runs one more query for the reason: `expectAccepted(sqlOutcome(query,
 * fences.claim(ownership)))`. In a transaction, `query` must use the connection of that transaction.
 *
 * Rejects with the error of `query`. The outcome is unknown then.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if more than one row was written (roll back), if `query` returns anything else, or if the
 *   fence column does not contain a number.
 */
export async function sqlOutcome(query: SqlQuery, statement: FencedStatement): Promise<SqlOutcome> {
  const written = await query(statement);
  const result = Array.isArray(written) ? (written as unknown[])[0] : written;
  if (isAccepted(checkedObject('result of an update', result) as SqlResult)) return { outcome: 'accepted' };
  const { query: reasonQuery } = statement.refusal;
  return reasonOf(statement, rowsOf(await query(reasonQuery)));
}

function reasonOf({ refusal }: FencedStatement, rows: readonly unknown[]): SqlOutcome {
  const { resource, outcomeIfAbsent, once } = refusal;
  const hold = { ...optionalName(refusal), token: BigInt(refusal.token) };
  if (rows.length > 1) throw invalidArgument('where', `${String(rows.length)} rows`, 'names one row');
  // A token that would not have refused the write was stored after it, so it counts as no row.
  const largest = rows.length === 0 ? -1n : tokenIn(rows[0], resource);
  if (largest > hold.token) return refusedBy(resource, hold, largest);
  const refused = `${describeHold(hold)} is refused by ${resource}`;
  if (once && largest === hold.token) {
    return { outcome: 'repeated', reason: `${refused}: the hold has already had its one effect there` };
  }
  return outcomeIfAbsent === 'missing'
    ? { outcome: 'missing', reason: `${refused}: there is no such row` }
    : { outcome: 'unregistered', reason: `${refused}: the name is not registered there` };
}

function tokenIn(row: unknown, resource: string): bigint {
  const { token }: { token?: unknown } = checkedObject('row', row as object);
  if (typeof token === 'string' && /^-?[0-9]+$/.test(token)) return BigInt(token);
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the fence of ${resource} contains ${String(token)}: it must be a whole number of 64 bits, NOT NULL DEFAULT 0`,
  );
}

function rowsOf(result: unknown): readonly unknown[] {
  const isResult =
    typeof result === 'object' && result !== null && !Array.isArray(result) && 'rows' in result;
  const found: unknown = isResult ? result.rows : result;
  if (!Array.isArray(found))
    throw invalidArgument('result of a select', result, 'is a list of rows, or has one under "rows"');
  const [first] = found as readonly unknown[];
  return Array.isArray(first) ? first : found;
}
