/**
 * Makes `JSON.stringify` work for an object that has bigints, which it refuses otherwise: they become decimal texts, as they are too large
 * for its numbers. An error becomes its name and message, with its code if it has one; JSON shows nothing of one by itself. What is
 * further inside is shown as it says itself. Only the object itself has it, not a copy: `{ ...state }` is an object as any other.
 */
export function jsonable<T extends object>(told: T): T {
  return Object.defineProperty(told, 'toJSON', SHOWN);
}

// Not among the members that are listed, copied or compared.
const SHOWN: PropertyDescriptor = {
  value(this: object): object {
    return Object.fromEntries(Object.entries(this).map(([name, part]) => [name, inJson(part)]));
  },
};

/** A member of an object as JSON is to show it. */
export function inJson(part: unknown): unknown {
  if (typeof part === 'bigint') return String(part);
  if (part instanceof Error && !('toJSON' in part)) return errorInJson(part);
  return part;
}

function errorInJson({ name, message, ...rest }: Error & { readonly code?: unknown }): object {
  return { name, message, ...(typeof rest.code === 'string' ? { code: rest.code } : {}) };
}
