import { isQueueLockError } from '@queuelock/core/backend';
import type { Naming } from '@queuelock/zookeeper';
import { describeWhatApplies } from '@queuelock/harness/conformance';
import { harnesses } from './harness.ts';

const NAMINGS = [
  'curator-read-write',
  'kazoo',
  'curator+kazoo',
  'curator-latch',
  'curator-lease',
  'fast',
] as const;

/**
 * Titles of conformance tests that cannot pass with naming `curator-lease`. With it, every child of a queue
 * counts as an entry, even the directory of a nested queue, and an entry may have any limit. So the
 * operations of these tests succeed, but with other results.
 */
const NOT_OF_LEASES: ReadonlySet<string> = new Set([
  'names that nest are separate queues',
  'names with dots are separate queues',
  'the reply to an enqueue behind an entry with another limit contains that limit',
]);

function isRefusal(error: unknown, naming: Naming): boolean {
  return isQueueLockError(error, 'INVALID_ARGUMENT') && error.message.includes(`with naming ${naming}`);
}

describe('@queuelock/zookeeper', () => {
  const harnessOf = harnesses();

  for (const naming of NAMINGS) {
    describeWhatApplies(harnessOf(naming), {
      refuses: (error) => isRefusal(error, naming),
      ...(naming === 'curator-lease' ? { contradicts: NOT_OF_LEASES } : {}),
    });
  }
});
