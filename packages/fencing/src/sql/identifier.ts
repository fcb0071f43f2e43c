import { invalidArgument } from '@queuelock/core/backend';
import type { Dialect, SqlTable } from './dialect.ts';

const DOLLAR_QUOTE = '$queuelock$';

/**
 * Quotes an SQL identifier. All characters are taken literally, upper and lower case included. Refuses empty
 * names, control characters, and names that the database would truncate or change. Also refuses dots, since a
 * schema is given separately, and question marks, since some clients replace them by values.
 */
export function quoteIdentifier(dialect: Dialect, argument: string, name: unknown): string {
  const { count, max, unit } = dialect.maxIdentifier;
  if (typeof name !== 'string' || !/^[^\p{Cc}\p{Cs}.?]+$/u.test(name) || name.trim() !== name) {
    throw invalidArgument(
      argument,
      name,
      'is an identifier: no dots, no question marks, no control characters, no spaces around it; a schema is given as ["schema", "table"]',
    );
  }
  if (name.includes(DOLLAR_QUOTE))
    throw invalidArgument(
      argument,
      name,
      `does not contain ${DOLLAR_QUOTE}, which ends a statement in PostgreSQL`,
    );
  if (count(name) > max) throw invalidArgument(argument, name, `has at most ${String(max)} ${unit}`);
  return `${dialect.quote}${name.replaceAll(dialect.quote, dialect.quote.repeat(2))}${dialect.quote}`;
}

/** Quotes the name of a table, with its schema if there is one. */
export function quoteTable(dialect: Dialect, argument: string, table: SqlTable): string {
  const parts: readonly unknown[] = Array.isArray(table) ? table : [table];
  if (parts.length > 2) throw invalidArgument(argument, table, 'is "table" or ["schema", "table"]');
  return parts.map((part) => quoteIdentifier(dialect, argument, part)).join('.');
}
