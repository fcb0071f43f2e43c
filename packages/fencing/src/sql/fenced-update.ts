import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { MAX_INT64, optionalName, tokenOf, type FencingHold } from '../hold.ts';
import { dialectOf, type Dialect, type SqlDialect, type SqlTable } from './dialect.ts';
import { quoteIdentifier, quoteTable } from './identifier.ts';
import { Parameters, type FencedStatement, type SqlStatement } from './statement.ts';

/** An update of one row, in a table that stores the largest fencing token of each row in a column. */
export interface FencedUpdate {
  readonly table: SqlTable;
  /** Columns and their new values. May be empty, to store only the token of the hold in the row. */
  readonly set: Readonly<Record<string, unknown>>;
  /**
   * Columns and their values that select the row. The same values must select the row also after the write.
   */
  readonly where: Readonly<Record<string, unknown>>;
  readonly hold: FencingHold<'token'>;
  /**
   * The column that contains the largest token of each row: 64 bits, NOT NULL, initially 0. Default `fence`.
   */
  readonly fence?: string;
  /** Allows one effect per hold: a second write with the same token is refused too. Default false. */
  readonly once?: boolean;
}

const MEMBERS: KnownOptions<FencedUpdate> = {
  table: 'any',
  set: 'object',
  where: 'object',
  hold: 'object',
  fence: 'string',
  once: 'boolean',
};

/**
 * Returns `UPDATE table SET ..., fence = token WHERE ... AND fence <= token`: one statement, which needs no
 * transaction. Run it with {@link sqlOutcome}. With `once`, a repetition after a lost reply is harmless: the
 * outcome `repeated` then means that the write was accepted before.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when a member of `update` is missing or invalid
 */
export function fencedUpdate(dialect: SqlDialect, update: FencedUpdate): FencedStatement {
  const sql = dialectOf(dialect);
  const {
    table,
    set,
    where,
    hold,
    fence = 'fence',
    once = false,
  } = checkedOptions('update', update, MEMBERS);
  const decimal = String(tokenOf(hold, MAX_INT64));
  const target = quoteTable(sql, 'table', table);
  const column = quoteIdentifier(sql, 'fence', fence);
  if (Object.keys(where).length === 0)
    throw invalidArgument('where', where, 'names the row with at least one column');
  const parameters = new Parameters(sql.numbered);
  const assignments = columnsOf(sql, 'set', set).map(([name, value]) => {
    if (name.toLowerCase() === column.toLowerCase()) {
      throw invalidArgument('set', fence, 'does not assign the fence column');
    }
    return `${name} = ${parameters.add(value)}`;
  });
  assignments.push(`${column} = ${sql.assignment(sql.integer(parameters.add(decimal)))}`);
  const fenced = `${column} ${once ? '<' : '<='}`;
  const conditions = `${conditionsOf(sql, where, parameters)} AND ${fenced} ${sql.integer(parameters.add(decimal))}`;
  const text = `UPDATE ${target} SET ${assignments.join(', ')} WHERE ${conditions}`;
  const queryParameters = new Parameters(sql.numbered);
  const read = `SELECT ${sql.text(column)} AS token FROM ${target} WHERE ${conditionsOf(sql, where, queryParameters)}${sql.locking}`;
  const query: SqlStatement = { ...queryParameters.statement(read), reads: true };
  // The error message names the columns without their values, which may be secrets.
  const resource = `the row of ${target} (${Object.keys(where).join(', ')})`;
  const refusal = { query, ...optionalName(hold), token: decimal, once, resource };
  return { ...parameters.statement(text), refusal };
}

function conditionsOf(sql: Dialect, where: FencedUpdate['where'], parameters: Parameters): string {
  return columnsOf(sql, 'where', where)
    .map(([name, value]) => (value === null ? `${name} IS NULL` : `${name} = ${parameters.add(value)}`))
    .join(' AND ');
}

function columnsOf(
  sql: Dialect,
  argument: string,
  columns: Readonly<Record<string, unknown>>,
): [name: string, value: unknown][] {
  return Object.entries(columns).map(([name, value]) => {
    if (value === undefined) throw invalidArgument(`${argument}.${name}`, value, 'has a value, or is null');
    return [quoteIdentifier(sql, argument, name), value];
  });
}
