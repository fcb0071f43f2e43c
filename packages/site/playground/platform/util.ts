/**
 * Replaces Node's `isDeepStrictEqual`. Compares plain objects, arrays and primitive values, which is all that
 * the core needs.
 */
export function isDeepStrictEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  return keys.length === others.length && keys.every((key) => isDeepStrictEqual(left[key], right[key]));
}
