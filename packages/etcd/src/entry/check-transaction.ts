import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

// Maximum number of queues that one transaction can enter. Each entry takes two operations, a write and a read, and etcd accepts 128 operations in a
// transaction by default.
const MAX_QUEUES = 60;

/** Throws `INVALID_ARGUMENT` unless one transaction can enter all the given queues and create their single keys. */
export function checkOneTransaction(
  specs: readonly EntrySpec[],
  singleKeyOf: (spec: EntrySpec) => string | undefined,
): void {
  if (specs.length > MAX_QUEUES)
    throw invalidArgument(
      'specs',
      `${specs.length} queues`,
      `are at most ${MAX_QUEUES}: all enter in one transaction`,
    );
  const queues = new Set<string>();
  const singles = new Set<string>();
  for (const spec of specs) {
    const { queue } = spec;
    if (queues.has(queue))
      throw invalidArgument(
        'specs',
        queue,
        'name each queue at most once: two entries of one transaction would have the same order',
      );
    queues.add(queue);
    const single = singleKeyOf(spec);
    if (single === undefined) continue;
    if (singles.has(single))
      throw invalidArgument('specs', queue, 'name queues that do not share a single key (option singleKey)');
    singles.add(single);
  }
}
