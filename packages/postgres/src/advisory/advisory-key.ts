import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

/**
 * The key of an advisory lock: one number of 64 bits, or two numbers of 32 bits. Both forms have separate key
 * spaces. For `{ hashtext: text }`, the server's SQL function `hashtext` computes the number from the text.
 */
export type AdvisoryKey = bigint | number | readonly [number, number] | { readonly hashtext: string };

/** Returns the key of the advisory lock that other programs use for a queue, or `undefined` when they use none. */
export type AdvisoryKeyOf = (queue: string) => AdvisoryKey | undefined;

/** An advisory lock with the key and the mode that an entry needs. */
export interface AdvisoryLock {
  /**
   * SQL arguments for the server's lock functions, with the key of the advisory lock, for instance
   * `$1::bigint`.
   */
  readonly args: string;
  /** Values of the placeholders in the SQL arguments `args`. */
  readonly values: readonly string[];
  /** Whether the advisory lock is shared with other holders. */
  readonly shared: boolean;
}

/**
 * Returns the advisory lock that an entry takes once it is admitted, or `undefined` when its queue has none.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an invalid key, and for a limit above 1: one advisory lock cannot count several holders
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
