import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

/** Returns the single key of a queue: the key that other programs use as the lock. Returns `undefined` if the queue has none. */
export type SingleKeyOf = (queue: string) => string | undefined;

/**
 * Returns the key that the option `singleKey` names for a queue.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when it is not a key, or when it lies below the prefix of queuelock's own keys
 */
export function singleKeyFor(
  singleKeyOf: SingleKeyOf | undefined,
  { root, queue }: { readonly root: string; readonly queue: string },
): string | undefined {
  const key: unknown = singleKeyOf?.(queue);
  if (key === undefined) return undefined;
  const what = `singleKey(${JSON.stringify(queue)})`;
  if (typeof key !== 'string' || key === '' || /\p{Surrogate}/u.test(key))
    throw invalidArgument(what, key, 'is undefined, or a key as stored: well-formed Unicode, not empty');
  if (key.startsWith(root)) throw invalidArgument(what, key, 'is a key outside of what queuelock stores');
  return key;
}

/**
 * Refuses shared entries and limits above 1 in a queue with a single key: one key cannot represent several holders.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function checkExclusive(
  { queue, shared, limit }: Pick<EntrySpec, 'queue' | 'shared' | 'limit'>,
  single: string | undefined,
): void {
  if (single === undefined) return;
  const rule = `as long as ${JSON.stringify(queue)} has a single key (option singleKey)`;
  if (shared) throw invalidArgument('mode', 'shared', `is 'exclusive' ${rule}`);
  if (limit !== 1) throw invalidArgument('limit', limit, `is 1 ${rule}`);
}
