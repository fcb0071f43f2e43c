// Chapter queue: what is a name, a text, a number, as they are stored?
// What a statement takes and answers (here), names that are allowed (names).

/** What a statement takes: a text is sent as its bytes, and never meets a character set or an escape. */
export type Value = string | number | bigint;

/** A value as it is written in a statement. */
export function literal(value: Value): string {
  return typeof value === 'string' ? `x'${Buffer.from(value).toString('hex')}'` : String(value);
}

/** Several of them, separated by commas. */
export function literals(values: Iterable<Value>): string {
  return Array.from(values, literal).join(', ');
}

/** A text as it is stored. */
export function textOf(bytes: unknown): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : String(bytes);
}
