/**
 * Adds a `toJSON` to an object that has bigints, which `JSON.stringify` otherwise refuses. They become decimal strings, since they are too large for
 * JSON numbers. An error becomes its name, message and code, which JSON otherwise omits. Nested objects use their own `toJSON`. A copy such as
 * `{ ...state }` does not have it.
 */
export function jsonable<T extends object>(value: T): T {
  return Object.defineProperty(value, 'toJSON', SHOWN);
}

// `toJSON` is not enumerable, so that code that lists, copies or compares the members ignores it.
const SHOWN: PropertyDescriptor = {
  value(this: object): object {
    return Object.fromEntries(Object.entries(this).map(([name, part]) => [name, inJson(part)]));
  },
};

/** Converts a member of an object to the value that appears in JSON. */
export function inJson(part: unknown): unknown {
  if (typeof part === 'bigint') return String(part);
  if (part instanceof Error && !('toJSON' in part)) return errorInJson(part);
  return part;
}

function errorInJson({ name, message, ...rest }: Error & { readonly code?: unknown }): object {
  return { name, message, ...(typeof rest.code === 'string' ? { code: rest.code } : {}) };
}
