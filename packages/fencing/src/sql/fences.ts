import { checkName, MAX_INT64, tokenOf, type FencingHold } from '../hold.ts';
import { dialectOf, type SqlDialect, type SqlTable } from './dialect.ts';
import { quoteTable } from './identifier.ts';
import { Parameters, type FenceClaim, type SqlStatement } from './statement.ts';

/** Statements for a table that has one row per lock name, with the largest token so far. */
export interface SqlFences {
  /**
   * Creates the table of fencing tokens, with the columns `name` and `token`, unless it exists. Any number of
   * processes may run it at a time. On MySQL it commits a transaction, as every `CREATE TABLE` does.
   */
  createTable(): SqlStatement;
  /** Returns the SQL text that creates the table of fencing tokens, for a file of migrations. */
  migration(): string;
  /**
   * Returns statements for the table's row of the hold's lock. They raise the token in the row to that of the
   * hold, unless the row has a larger token. {@link sqlOutcome} runs them and reports whether the hold was
   * accepted. The first claim of a name inserts the row. The row stays locked until the transaction ends. So
   * the effects that follow in the same transaction are those of the present holder: an earlier holder is
   * refused, a later one waits.
   *
   * Never delete a row: without it, an earlier holder is accepted.
   */
  claim(hold: FencingHold<'name' | 'token'>): FenceClaim;
  /**
   * Returns the statement that selects the stored `token` of a lock name, as decimal text, and locks the row.
   * No row means that no hold of that name was ever claimed.
   */
  largest(name: string): SqlStatement;
}

/**
 * Returns statements that protect several effects in one transaction against late writes of earlier holders: begin, `claim`, the effects, commit.
 * Roll back unless the claim is accepted; `expectAccepted(sqlOutcome(query, fences.claim(ownership)))` throws in that case. On SQLite, begin with
 * `BEGIN IMMEDIATE`.
 *
 * Under REPEATABLE READ or SERIALIZABLE, a concurrent transaction gets the serialization error of the database instead of a refusal. Repeat it. A
 * `COMMIT` without a reply has an unknown outcome: read the effects.
 * @param dialect of the database
 * @param table of the fences. Default `queuelock_fences`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the dialect is unknown or the table has no valid name
 * @example
 * ```ts
 * const fences = sqlFences('postgres');
 * await prisma.$transaction(async (tx) => {
 *   const query = ({ strings, values }: SqlStatement) => tx.$queryRaw(strings, ...values);
 *   await expectAccepted(sqlOutcome(query, fences.claim(ownership)));
 *   await tx.payment.create({ data });
 * });
 * ```
 */
export function sqlFences(dialect: SqlDialect, table: SqlTable = 'queuelock_fences'): SqlFences {
  const sql = dialectOf(dialect);
  const fences = quoteTable(sql, 'table', table);
  const statement = (write: (parameters: Parameters) => string): SqlStatement => {
    const parameters = new Parameters(sql.numbered);
    return parameters.statement(write(parameters));
  };
  const largest = (name: string): SqlStatement => ({
    ...statement(
      (input) =>
        `SELECT ${sql.text('token')} AS token FROM ${fences} WHERE name = ${input.add(checkName(name))}${sql.locking}`,
    ),
    reads: true,
  });
  return {
    createTable: () => statement(() => sql.ensureFences(fences)),
    migration: () => `${sql.createFences(fences)};\n`,
    claim(hold) {
      const token = String(tokenOf(hold, MAX_INT64));
      const name = checkName(hold.name);
      const raise = statement((input) => sql.raise(fences, input.add(name), () => input.add(token)));
      const statements: readonly SqlStatement[] = sql.raiseReads
        ? [{ ...raise, reads: true }]
        : [raise, largest(name)];
      return { statements, name, token, resource: `the fence in ${fences}` };
    },
    largest,
  };
}
