import { checkedObject, invalidArgument, QueueLockError } from '@queuelock/core/backend';
import { named, nameOf } from '../hold.ts';
import { refusedAt, type FenceOutcome } from '../outcome.ts';
import { isAccepted, type SqlResult } from './accepted.ts';
import type { FencedStatement, SqlStatement } from './statement.ts';

/** What a database said to a write behind a fence. */
export type SqlAnswer =
  | FenceOutcome
  /** By no later holder: there is no such row, the name was never registered, or (`once`) this hold has had its effect there. */
  | { readonly outcome: 'missing' | 'unregistered' | 'repeated'; readonly reason: string };

/**
 * Runs a statement with your client and answers what the driver does: of an update the {@link SqlResult}, of a select the rows, as a list
 * or under `rows`; or what `mysql2` answers, with the columns behind either. `(statement) => client.query(statement)` is one for `pg`.
 */
export type SqlQuery = (statement: SqlStatement) => unknown;

/**
 * Runs a `fencedUpdate` or a `claim`, and if it was not accepted looks why: `expectAccepted(sqlAnswer(query, fences.claim(ownership)))`.
 * In a transaction, `query` goes to its connection. Rejects with what `query` rejects with; the outcome is unknown then.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if it was more than one row (roll back), if `query` answers something else, or if the fence
 * column has no number in it.
 */
export async function sqlAnswer(query: SqlQuery, statement: FencedStatement): Promise<SqlAnswer> {
  const written = await query(statement);
  const result = Array.isArray(written) ? (written as unknown[])[0] : written;
  if (isAccepted(checkedObject('result of an update', result) as SqlResult)) return { outcome: 'accepted' };
  const { ask } = statement.refusal;
  return reasonOf(statement, rowsOf(await query(ask)));
}

function reasonOf({ refusal }: FencedStatement, rows: readonly unknown[]): SqlAnswer {
  const { place, absent, once } = refusal;
  const hold = { ...named(refusal), token: BigInt(refusal.token) };
  if (rows.length > 1) throw invalidArgument('where', `${String(rows.length)} rows`, 'names one row');
  // One that does not refuse came after the write.
  const largest = rows.length === 0 ? -1n : tokenIn(rows[0], place);
  if (largest > hold.token) return refusedAt(place, hold, largest);
  const refused = `${nameOf(hold)} is refused by ${place}`;
  if (once && largest === hold.token) {
    return { outcome: 'repeated', reason: `${refused}: it has had its one effect there` };
  }
  return absent === 'missing'
    ? { outcome: 'missing', reason: `${refused}: there is no such row` }
    : { outcome: 'unregistered', reason: `${refused}: the name is not registered there` };
}

function tokenIn(row: unknown, place: string): bigint {
  const { token }: { token?: unknown } = checkedObject('row', row as object);
  if (typeof token === 'string' && /^-?[0-9]+$/.test(token)) return BigInt(token);
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the fence of ${place} holds ${String(token)}: it has to be a whole number of 64 bits, NOT NULL DEFAULT 0`,
  );
}

function rowsOf(answer: unknown): readonly unknown[] {
  const isResult =
    typeof answer === 'object' && answer !== null && !Array.isArray(answer) && 'rows' in answer;
  const found: unknown = isResult ? answer.rows : answer;
  if (!Array.isArray(found)) throw invalidArgument('answer of a select', answer, 'has its rows');
  const [first] = found as readonly unknown[];
  return Array.isArray(first) ? first : found;
}
