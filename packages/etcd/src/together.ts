import { invalidArgument, type EntrySpec } from '@queuelock/core/backend';

// A creation and a look each, and a server takes 128 operations in one transaction.
const MOST = 60;

/** Throws `INVALID_ARGUMENT` unless these queues can be entered in one transaction. */
export function checkTogether(specs: readonly EntrySpec[]): void {
  if (specs.length > MOST)
    throw invalidArgument(
      'specs',
      `${specs.length} queues`,
      `are at most ${MOST}: all enter in one transaction`,
    );
  const queues = new Set<string>();
  for (const { queue } of specs) {
    if (queues.has(queue))
      throw invalidArgument(
        'specs',
        queue,
        'are of queues no two alike: both entries would have the same order',
      );
    queues.add(queue);
  }
}
