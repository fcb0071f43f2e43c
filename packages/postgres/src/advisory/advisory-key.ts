import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

/**
 * The key of an advisory lock: one number of 64 bits, or two of 32 bits, which are other locks than that. `hashtext`: the number that
 * the server's function of that name makes of a text.
 */
export type AdvisoryKey = bigint | number | readonly [number, number] | { readonly hashtext: string };

/** The advisory lock that others take for a queue; none if they take none. */
export type AdvisoryKeyOf = (queue: string) => AdvisoryKey | undefined;

/** An advisory lock as an entry takes it. */
export interface AdvisoryLock {
  /** The key, as the arguments of the server's functions. */
  readonly args: string;
  readonly values: readonly string[];
  /** Beside others who share it. */
  readonly shared: boolean;
}

/**
 * What an entry takes when its turn has come. Throws `INVALID_ARGUMENT` for keys that are none, and for a semaphore: one lock cannot stand
 * for some who hold and keep out others.
 */
export function advisoryLockFor(
  keyOf: AdvisoryKeyOf | undefined,
  { queue, shared, limit }: Pick<EntrySpec, 'queue' | 'shared' | 'limit'>,
): AdvisoryLock | undefined {
  const key: unknown = keyOf?.(queue);
  if (key === undefined) return undefined;
  const name = JSON.stringify(queue);
  if (limit !== 1)
    throw invalidArgument(
      'limit',
      limit,
      `is 1 as long as ${name} has an advisory lock (option advisoryKey)`,
    );
  const found = argumentsOf(key);
  if (found) return { ...found, shared };
  const rule =
    'is undefined, a whole number of 64 bits (a bigint where a number is not exact), a pair of 32 bits each, or { hashtext: text }';
  throw invalidArgument(`advisoryKey(${name})`, key, rule);
}

function argumentsOf(key: unknown): Pick<AdvisoryLock, 'args' | 'values'> | undefined {
  if (typeof key === 'bigint' && BigInt.asIntN(64, key) === key)
    return { args: '$1::bigint', values: [String(key)] };
  if (Number.isSafeInteger(key)) return { args: '$1::bigint', values: [String(key)] };
  if (Array.isArray(key) && key.length === 2 && key.every(isInt32))
    return { args: '$1::integer, $2::integer', values: key.map(String) };
  const text: unknown = typeof key === 'object' && key !== null ? Reflect.get(key, 'hashtext') : undefined;
  if (typeof text === 'string' && !/\p{Surrogate}|\0/u.test(text))
    return { args: 'hashtext($1)', values: [text] };
  return undefined;
}

function isInt32(half: unknown): boolean {
  return typeof half === 'number' && (half | 0) === half;
}
