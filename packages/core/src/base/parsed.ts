/** The latest time that a `Date` can represent, in milliseconds since 1970. */
const MAX_TIME = 8_640_000_000_000_000;

/** Parses JSON that another process wrote. Returns `undefined` for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the members of parsed JSON; an empty record for a value that is not an object. */
export function recordOf(part: unknown): Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : {};
}

/** Returns the elements of parsed JSON; an empty list for a value that is not a list. */
export function listOf(part: unknown): readonly unknown[] {
  return Array.isArray(part) ? part : [];
}

/** Returns a parsed text, or `undefined` for a value of another type. */
export function textOf(part: unknown): string | undefined {
  return typeof part === 'string' ? part : undefined;
}

/** Returns a parsed time in milliseconds since 1970, or `undefined` if a `Date` cannot represent it. */
export function timeOf(part: unknown): number | undefined {
  return typeof part === 'number' && Math.abs(part) <= MAX_TIME ? part : undefined;
}

/** Returns a parsed duration in milliseconds, or `undefined` for another value. */
export function durationOf(part: unknown): number | undefined {
  return typeof part === 'number' && part >= 0 && part <= MAX_TIME ? part : undefined;
}

/** Returns a parsed whole number of at least `min`, or `undefined` for another value. */
export function wholeOf(part: unknown, min: number): number | undefined {
  return typeof part === 'number' && Number.isSafeInteger(part) && part >= min ? part : undefined;
}
