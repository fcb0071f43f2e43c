// Folder "queue": encodes names, texts and numbers for the tables.
// sql.ts (this file) encodes values in statements and decodes those in results. names.ts checks names and builds the keys of entries.

/** A value in a statement. A text is sent as its bytes, so no character set and no escaping applies to it. */
export type Value = string | number | bigint;

/** Returns a value as an SQL literal. */
export function literal(value: Value): string {
  return typeof value === 'string' ? `x'${Buffer.from(value).toString('hex')}'` : String(value);
}

/** Returns values as SQL literals, separated by commas. */
export function literals(values: Iterable<Value>): string {
  return Array.from(values, literal).join(', ');
}

/** Decodes a stored text from its bytes. */
export function textOf(bytes: unknown): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : String(bytes);
}

/**
 * The largest number that the clause LIMIT of a statement can have. A LIMIT clause overrides
 * `sql_select_limit`, which would hide entries of a queue.
 */
export const MAX_ROWS = '18446744073709551615';
