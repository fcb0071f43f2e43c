import { checkedObject, invalidArgument, QueueLockError } from '@queuelock/core/backend';
import { optionalName, describeHold } from '../hold.ts';
import { refusedBy, type FenceOutcome } from '../outcome.ts';
import { isAccepted, type SqlResult } from './accepted.ts';
import type { FenceClaim, FencedStatement, SqlStatement } from './statement.ts';

/** The outcome of a write in a database that was guarded with a fencing token. */
export type SqlOutcome =
  | FenceOutcome
  /** The write was refused, but not because of a later holder. The row does not exist, or (`once`) this hold has already had its effect. */
  | { readonly outcome: 'missing' | 'repeated'; readonly reason: string };

/**
 * Runs a statement with your client, in your transaction, and returns the result of the client. For an update that is an {@link SqlResult}.
 * For a statement with `reads` it is the list of rows, or an object with the list under `rows`. The array that `mysql2` returns, with the
 * rows and then the columns, is accepted too.
 *
 * | client                     | query                                                       |
 * | -------------------------- | ----------------------------------------------------------- |
 * | `pg`                       | `(statement) => client.query(statement)`                    |
 * | `mysql2`, `mariadb`        | `({ text, values }) => connection.execute(text, values)`    |
 * | `postgres`                 | `({ strings, values }) => sql(strings, ...values)`          |
 * | Prisma                     | `({ strings, values, reads }) => reads ? tx.$queryRaw(strings, ...values) : tx.$executeRaw(strings, ...values)` |
 * | Drizzle                    | `({ strings, values }) => tx.execute(sql(strings, ...values))` |
 * | Kysely                     | `({ strings, values }) => sql(strings, ...values).execute(trx)` |
 * | Knex                       | `({ strings, values }) => trx.raw(strings.join('?'), values)` |
 * | TypeORM                    | `({ text, values }) => manager.query(text, values)`         |
 */
export type SqlQuery = (statement: SqlStatement) => unknown;

/**
 * Runs a write that is guarded with a fencing token, and returns its outcome:
 * `expectAccepted(sqlOutcome(query, fences.claim(ownership)))`. After a `fencedUpdate` that was not accepted,
 * it runs one more query for the reason. In a transaction, `query` must use the connection of that
 * transaction.
 *
 * Rejects with the error of `query`. The outcome is unknown then.
 * @param query runs one statement with your client
 * @param write a `claim` or a `fencedUpdate`
 * @throws {QueueLockError} `INVALID_ARGUMENT` if more than one row was written (roll back), if `query`
 *   returns a result of an unknown form, or if the fence column does not contain a number.
 */
export async function sqlOutcome(query: SqlQuery, write: FencedStatement | FenceClaim): Promise<SqlOutcome> {
  if ('statements' in write) return claimOutcome(query, write);
  if (isAccepted((await query(write)) as SqlResult)) return { outcome: 'accepted' };
  return reasonOf(write, rowsOf(await query(write.refusal.query)));
}

async function claimOutcome(query: SqlQuery, claim: FenceClaim): Promise<FenceOutcome> {
  let result: unknown;
  for (const statement of claim.statements) result = await query(statement);
  const { name, resource } = claim;
  const rows = rowsOf(result);
  if (rows.length !== 1)
    throw invalidArgument('result of a claim', `${String(rows.length)} rows`, 'has one row');
  const hold = { name, token: BigInt(claim.token) };
  const largest = tokenIn(rows[0], resource);
  if (largest < hold.token) {
    const rule = 'is stored: the statements of a claim run in one transaction, on one connection';
    throw invalidArgument('token of a claim', largest, rule);
  }
  return largest === hold.token ? { outcome: 'accepted' } : refusedBy(resource, hold, largest);
}

function reasonOf({ refusal }: FencedStatement, rows: readonly unknown[]): SqlOutcome {
  const { resource, once } = refusal;
  const hold = { ...optionalName(refusal), token: BigInt(refusal.token) };
  if (rows.length > 1) throw invalidArgument('where', `${String(rows.length)} rows`, 'names one row');
  // If the stored token is not larger than that of the hold, the update would have written the row. So the
  // row was created after the update, and counts as missing.
  const largest = rows.length === 0 ? -1n : tokenIn(rows[0], resource);
  if (largest > hold.token) return refusedBy(resource, hold, largest);
  const refused = `${describeHold(hold)} is refused by ${resource}`;
  if (once && largest === hold.token) {
    return { outcome: 'repeated', reason: `${refused}: the hold has already had its one effect there` };
  }
  return { outcome: 'missing', reason: `${refused}: there is no such row` };
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
