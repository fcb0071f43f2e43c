type Encodable = string | number | bigint | boolean | null | readonly string[];
type Encoded = string | boolean | null;

/**
 * The parsers and serializers of JSON. The statements of this package pass JSON as a text already. All other types have the parsers and serializers
 * of postgres.js: numbers and booleans are parsed, 64-bit integers and the rest stay texts.
 */
export const JSON_TYPE = {
  json: {
    to: 114,
    from: [114, 3802],
    serialize: (text: string): string => text,
    parse: (text: string): unknown => JSON.parse(text) as unknown,
  },
} as const;

/** Encodes values as PostgreSQL reads them for any declared type. postgres.js encodes lists only after it has read all types of the server. */
export function encodeValues(values: readonly unknown[]): Encoded[] {
  return (values as readonly Encodable[]).map((value) => {
    if (value === null || typeof value === 'boolean') return value;
    return typeof value === 'object' ? arrayLiteral(value) : String(value);
  });
}

/** Returns the literal of a list of texts. Quoted, each text is taken as it is. */
function arrayLiteral(texts: readonly string[]): string {
  const quoted = texts.map((text) => `"${text.replace(/["\\]/g, String.raw`\$&`)}"`);
  return `{${quoted.join(',')}}`;
}
