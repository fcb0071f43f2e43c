import { checkName, MAX_INT64, tokenOf, type FencingHold } from '../hold.ts';
import { dialectOf, type SqlDialect, type SqlTable } from './dialect.ts';
import { quoteTable } from './identifier.ts';
import { Parameters, type FencedStatement, type SqlStatement } from './statement.ts';

/** Statements for a table that has one row per lock name, with the largest token so far. */
export interface SqlFences {
  /** Creates the table, with the columns `name` and `token`, unless it exists. */
  createTable(): SqlStatement;
  /** Creates the row of a name with token 0, unless it exists. Run it before the first claim, and never delete the row. */
  register(name: string): SqlStatement;
  /**
   * Raises the row to the hold's token, unless it has a larger one; {@link sqlOutcome} reports which. The row stays locked until the
   * transaction ends. So the effects that follow in the same transaction are those of the present holder: an earlier holder is refused, a
   * later one waits.
   */
  claim(hold: FencingHold<'name' | 'token'>): FencedStatement;
  /** Selects `token` of a name, as decimal text, to report which token refused a hold. No row means that the name was never registered. */
  largest(name: string): SqlStatement;
}

/**
 * Returns statements that guard several effects in one transaction: begin, `claim`, the effects, commit. Roll back unless the claim is
 * accepted; `expectAccepted(sqlOutcome(query, fences.claim(ownership)))` throws in that case. On SQLite, begin with `BEGIN IMMEDIATE`.
 *
 * Under REPEATABLE READ or SERIALIZABLE, a concurrent transaction gets the serialization error of the database instead of a refusal. Repeat
 * it. A `COMMIT` without a reply has an unknown outcome: read the effects.
 * @param table of the fences. Default `queuelock_fences`
 */
export function sqlFences(dialect: SqlDialect, table: SqlTable = 'queuelock_fences'): SqlFences {
  const sql = dialectOf(dialect);
  const fences = quoteTable(sql, 'table', table);
  const statement = (write: (parameters: Parameters) => string): SqlStatement => {
    const parameters = new Parameters(sql.numbered);
    return { text: write(parameters), values: parameters.values };
  };
  const largest = (name: string): SqlStatement => ({
    ...statement(
      (input) =>
        `SELECT ${sql.text('token')} AS token FROM ${fences} WHERE name = ${input.add(checkName(name))}${sql.locking}`,
    ),
    reads: true,
  });
  return {
    createTable: () => statement(() => sql.createFences(fences)),
    register: (name) => statement((input) => sql.insertIfAbsent(fences, input.add(checkName(name)))),
    claim(hold) {
      const decimal = String(tokenOf(hold, MAX_INT64));
      const name = checkName(hold.name);
      const raise = statement((input) => {
        const raised = sql.assignment(sql.integer(input.add(decimal)));
        const named = input.add(name);
        return `UPDATE ${fences} SET token = ${raised} WHERE name = ${named} AND token <= ${sql.integer(input.add(decimal))}`;
      });
      const resource = `the fence in ${fences}`;
      const refusal = { query: largest(name), name, token: decimal, once: false, resource } as const;
      return { ...raise, refusal: { ...refusal, outcomeIfAbsent: 'unregistered' } };
    },
    largest,
  };
}
