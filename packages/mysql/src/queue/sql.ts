// The folder queue answers: how are names, texts and numbers stored?
// Values in statements and in results (this file), and rules for names (names.ts).

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
 * The largest limit that a statement can have. An explicit limit overrides `sql_select_limit`, which would
 * hide entries of a queue.
 */
export const MAX_ROWS = '18446744073709551615';
