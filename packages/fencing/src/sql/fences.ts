import { checkName, MAX_INT64, tokenOf, type FencingHold } from '../hold.ts';
import { dialectOf, type SqlDialect, type SqlTable } from './dialect.ts';
import { quoteTable } from './identifier.ts';
import { Parameters, type FencedStatement, type SqlStatement } from './statement.ts';

/** Statements for a table with one row a lock name: the largest token that was seen. */
export interface SqlFences {
  /** Creates the table unless it is there: `name` and `token`. */
  createTable(): SqlStatement;
  /** Creates the row of a name unless it is there, with token 0. Before the first claim; never delete it. */
  register(name: string): SqlStatement;
  /**
   * Raises the row to the hold's token, unless it has a larger one: see {@link sqlAnswer} for which. The row stays locked until
   * the transaction ends, so the effects that follow in the same transaction are those of the present holder: an earlier
   * one is refused, a later one waits.
   */
  claim(hold: FencingHold<'name' | 'token'>): FencedStatement;
  /** Selects `token` of a name, as decimal text, to tell by whom one was refused; no row: it was never registered. */
  largest(name: string): SqlStatement;
}

/**
 * For effects of several statements: begin; `claim`, and roll back unless it is accepted (`expectAccepted(sqlAnswer(query, fences.claim(ownership)))` throws then); the effects; commit. On SQLite begin
 * with `BEGIN IMMEDIATE`. A rival under REPEATABLE READ or SERIALIZABLE gets the database's serialization error instead of
 * a refusal: repeat the transaction. A `COMMIT` without an answer is neither: look for the effects.
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
      (given) =>
        `SELECT ${sql.text('token')} AS token FROM ${fences} WHERE name = ${given.add(checkName(name))}${sql.locking}`,
    ),
    reads: true,
  });
  return {
    createTable: () => statement(() => sql.createFences(fences)),
    register: (name) => statement((given) => sql.insertIfAbsent(fences, given.add(checkName(name)))),
    claim(hold) {
      const decimal = String(tokenOf(hold, MAX_INT64));
      const name = checkName(hold.name);
      const raise = statement((given) => {
        const raised = sql.assigned(sql.integer(given.add(decimal)));
        const named = given.add(name);
        return `UPDATE ${fences} SET token = ${raised} WHERE name = ${named} AND token <= ${sql.integer(given.add(decimal))}`;
      });
      const place = `the fence in ${fences}`;
      const refusal = { ask: largest(name), name, token: decimal, once: false, place } as const;
      return { ...raise, refusal: { ...refusal, absent: 'unregistered' } };
    },
    largest,
  };
}
