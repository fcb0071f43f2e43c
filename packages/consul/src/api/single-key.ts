import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

/**
 * Returns the single key of a queue, which programs such as `consul lock` use as the lock. Returns
 * `undefined` for a queue without a single key.
 */
export type SingleKeyOf = (queue: string) => string | undefined;

/**
 * Returns the key that the option `singleKey` names for a queue.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when it is not a key, or when it lies below the prefix of queuelock's own keys
 */
export function singleKeyFor(
  singleKeyOf: SingleKeyOf | undefined,
  { prefix, queue }: { readonly prefix: string; readonly queue: string },
): string | undefined {
  const key: unknown = singleKeyOf?.(queue);
  if (key === undefined) return undefined;
  const what = `singleKey(${JSON.stringify(queue)})`;
  if (typeof key !== 'string' || key === '' || key.startsWith('/') || /\p{Surrogate}/u.test(key))
    throw invalidArgument(
      what,
      key,
      'is undefined, or a key as stored: well-formed Unicode, without a / in front',
    );
  if (prefix !== '' && key.startsWith(prefix))
    throw invalidArgument(what, key, 'is a key outside of the prefix of queuelock');
  return key;
}

/**
 * Refuses entries of a queue with a single key that one key cannot represent: shared entries, limits above 1,
 * and several queues in one call.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function checkSingle(
  specs: readonly Pick<EntrySpec, 'queue' | 'shared' | 'limit'>[],
  singleKeyOf: (queue: string) => string | undefined,
): void {
  for (const { queue, shared, limit } of specs) {
    if (singleKeyOf(queue) === undefined) continue;
    const rule = `as long as ${JSON.stringify(queue)} has a single key (option singleKey)`;
    if (specs.length > 1)
      throw invalidArgument('specs', queue, 'name no queue that has a single key (option singleKey)');
    if (shared) throw invalidArgument('mode', 'shared', `is 'exclusive' ${rule}`);
    if (limit !== 1) throw invalidArgument('limit', limit, `is 1 ${rule}`);
  }
}
