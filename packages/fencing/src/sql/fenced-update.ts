import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { checkToken, MAX_INT64, type Hold } from '../hold.ts';
import { dialectOf, type Dialect, type SqlDialect, type SqlTable } from './dialect.ts';
import { quoteIdentifier, quoteTable } from './identifier.ts';
import { Parameters, type SqlStatement } from './statement.ts';

/** A write of one row that carries its own fence. */
export interface FencedUpdate {
  readonly table: SqlTable;
  /** Columns and their new values; may be empty, to claim the row. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Names the row: columns and what they equal. */
  readonly where: Readonly<Record<string, unknown>>;
  readonly hold: Pick<Hold, 'token'>;
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
 * {@link isAccepted} for its result. With `once`, a repetition after a lost answer is harmless: refused means then that either
 * it was accepted before or a later holder was there; read `fence` to tell which.
 */
export function fencedUpdate(dialect: SqlDialect, update: FencedUpdate): SqlStatement {
  const sql = dialectOf(dialect);
  const {
    table,
    set,
    where,
    hold,
    fence = 'fence',
    once = false,
  } = checkedOptions('update', update, MEMBERS);
  const decimal = String(checkToken(hold.token, MAX_INT64));
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
  const conditions = columnsOf(sql, 'where', where).map(([name, value]) =>
    value === null ? `${name} IS NULL` : `${name} = ${given.add(value)}`,
  );
  conditions.push(`${column} ${once ? '<' : '<='} ${sql.integer(given.add(decimal))}`);
  const text = `UPDATE ${target} SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')}`;
  return { text, values: given.values };
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
