/** The latest moment that a `Date` can show. */
const MAX_TIME = 8_640_000_000_000_000;

/** Reads JSON that another process wrote; `undefined` for text that is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The members of parsed JSON; none where it is no object. */
export function recordOf(part: unknown): Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : {};
}

/** The parts of a parsed list; none where it is no list. */
export function listOf(part: unknown): readonly unknown[] {
  return Array.isArray(part) ? part : [];
}

/** A parsed text. */
export function textOf(part: unknown): string | undefined {
  return typeof part === 'string' ? part : undefined;
}

/** A parsed moment in milliseconds since 1970, if a `Date` can show it. */
export function timeOf(part: unknown): number | undefined {
  return typeof part === 'number' && Math.abs(part) <= MAX_TIME ? part : undefined;
}

/** A parsed duration in milliseconds. */
export function durationOf(part: unknown): number | undefined {
  return typeof part === 'number' && part >= 0 && part <= MAX_TIME ? part : undefined;
}

/** A parsed whole number of at least `min`. */
export function wholeOf(part: unknown, min: number): number | undefined {
  return typeof part === 'number' && Number.isSafeInteger(part) && part >= min ? part : undefined;
}
