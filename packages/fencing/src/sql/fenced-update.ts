import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { MAX_INT64, named, tokenOf, type FencingHold } from '../hold.ts';
import { dialectOf, type Dialect, type SqlDialect, type SqlTable } from './dialect.ts';
import { quoteIdentifier, quoteTable } from './identifier.ts';
import { Parameters, type FencedStatement, type SqlStatement } from './statement.ts';

/** A write of one row that carries its own fence. */
export interface FencedUpdate {
  readonly table: SqlTable;
  /** Columns and their new values; may be empty, to claim the row. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Names the row, before the write and after it: columns and what they equal. */
  readonly where: Readonly<Record<string, unknown>>;
  readonly hold: FencingHold<'token'>;
  /** The column of the largest token: 64 bits, NOT NULL, 0 in the beginning. Default `fence`. */
  readonly fence?: string;
  /** One effect per hold: a second one with the same token is refused too. Default false. */
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
 * `UPDATE table SET ..., fence = token WHERE ... AND fence <= token`: one statement, which needs no transaction. See
 * {@link sqlAnswer} for its answer. With `once`, a repetition after a lost answer is harmless: `repeated` means then that it was
 * accepted before.
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
  if (Object.keys(where).length === 0) throw invalidArgument('where', where, 'names the row to be written');
  const given = new Parameters(sql.numbered);
  const assignments = columnsOf(sql, 'set', set).map(([name, value]) => {
    if (name.toLowerCase() === column.toLowerCase()) {
      throw invalidArgument('set', fence, 'leaves the fence column alone');
    }
    return `${name} = ${given.add(value)}`;
  });
  assignments.push(`${column} = ${sql.assigned(sql.integer(given.add(decimal)))}`);
  const fenced = `${column} ${once ? '<' : '<='}`;
  const conditions = `${conditionsOf(sql, where, given)} AND ${fenced} ${sql.integer(given.add(decimal))}`;
  const text = `UPDATE ${target} SET ${assignments.join(', ')} WHERE ${conditions}`;
  const asked = new Parameters(sql.numbered);
  const ask: SqlStatement = {
    text: `SELECT ${sql.text(column)} AS token FROM ${target} WHERE ${conditionsOf(sql, where, asked)}${sql.locking}`,
    values: asked.values,
    reads: true,
  };
  // No values: they may be secrets.
  const place = `the row of ${target} (${Object.keys(where).join(', ')})`;
  const refusal = { ask, ...named(hold), token: decimal, once, place, absent: 'missing' } as const;
  return { text, values: given.values, refusal };
}

function conditionsOf(sql: Dialect, where: FencedUpdate['where'], given: Parameters): string {
  return columnsOf(sql, 'where', where)
    .map(([name, value]) => (value === null ? `${name} IS NULL` : `${name} = ${given.add(value)}`))
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
