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

/** Returns the value if it is a JSON object; otherwise an empty object. */
export function recordOf(part: unknown): Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : {};
}

/** Returns the value if it is an array; otherwise an empty array. */
export function listOf(part: unknown): readonly unknown[] {
  return Array.isArray(part) ? part : [];
}

/** Returns the value if it is a text; otherwise `undefined`. */
export function textOf(part: unknown): string | undefined {
  return typeof part === 'string' ? part : undefined;
}

/**
 * Returns the value if it is a time in milliseconds since 1970 that a `Date` can represent; otherwise
 * `undefined`.
 */
export function timeOf(part: unknown): number | undefined {
  return typeof part === 'number' && Math.abs(part) <= MAX_TIME ? part : undefined;
}

/** Returns the value if it is a duration in milliseconds; otherwise `undefined`. */
export function durationOf(part: unknown): number | undefined {
  return typeof part === 'number' && part >= 0 && part <= MAX_TIME ? part : undefined;
}

/** Returns the value if it is a whole number of at least `min`; otherwise `undefined`. */
export function wholeOf(part: unknown, min: number): number | undefined {
  return typeof part === 'number' && Number.isSafeInteger(part) && part >= min ? part : undefined;
}
