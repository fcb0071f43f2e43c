import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

/** The key that clients without a queue lock for a queue; none if there are none. */
export type SingleKeyOf = (queue: string) => string | undefined;

/** Asks the user's function. Throws `INVALID_ARGUMENT` for keys that would be in the way of ours. */
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

/** One key cannot stand for several who hold the queue at a time. */
export function checkExclusive(
  { queue, shared, limit }: Pick<EntrySpec, 'queue' | 'shared' | 'limit'>,
  single: string | undefined,
): void {
  if (single === undefined) return;
  const rule = `as long as ${JSON.stringify(queue)} has a single key (option singleKey)`;
  if (shared) throw invalidArgument('mode', 'shared', `is 'exclusive' ${rule}`);
  if (limit !== 1) throw invalidArgument('limit', limit, `is 1 ${rule}`);
}
