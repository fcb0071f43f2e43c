type Encodable = string | number | bigint | boolean | null | readonly string[];
type Encoded = string | boolean | null;

/**
 * Sends JSON parameters unchanged, because the statements of this package pass JSON as text, and parses JSON
 * in replies. All other types keep the conversions of postgres.js. It parses numbers and booleans, and
 * returns the rest, such as 64-bit integers, as texts.
 */
export const JSON_TYPE = {
  json: {
    to: 114,
    from: [114, 3802],
    serialize: (text: string): string => text,
    parse: (text: string): unknown => JSON.parse(text) as unknown,
  },
} as const;

/**
 * Encodes the values of placeholders as texts, which PostgreSQL converts to the types that the statement
 * declares. If postgres.js encoded lists, it would first have to read all types of the server.
 */
export function encodeValues(values: readonly unknown[]): Encoded[] {
  return (values as readonly Encodable[]).map((value) => {
    if (value === null || typeof value === 'boolean') return value;
    return typeof value === 'object' ? arrayLiteral(value) : String(value);
  });
}

/**
 * Returns the PostgreSQL literal for a list of texts. Each text is quoted, so that its characters have no
 * special meaning.
 */
function arrayLiteral(texts: readonly string[]): string {
  const quoted = texts.map((text) => `"${text.replace(/["\\]/g, String.raw`\$&`)}"`);
  return `{${quoted.join(',')}}`;
}
