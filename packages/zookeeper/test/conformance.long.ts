import { describeBackend } from '@queuelock/conformance';
import { isQueueLockError } from '@queuelock/core/backend';
import { describeWhatApplies } from '@queuelock/harness/conformance';
import { harnesses } from './harness.ts';

/**
 * The npm package cannot list the nodes of a session, so entries of a resumed session that were not enqueued
 * again stay until the session ends.
 */
const NOT_WITH_NATIVE: ReadonlySet<string> = new Set([
  'unclaimed entries of a resumed session are removed on demand, and no others',
]);

function isRefusedByFast(error: Error): boolean {
  return isQueueLockError(error, 'INVALID_ARGUMENT') && error.message.includes('with naming fast');
}

describe('@queuelock/zookeeper with transport wire', () => {
  const harnessOf = harnesses('wire');

  describeBackend(harnessOf('curator'));
  describeWhatApplies(harnessOf('fast'), { refuses: isRefusedByFast });
});

describe('@queuelock/zookeeper with transport native', () => {
  const harnessOf = harnesses('native');

  describeWhatApplies(harnessOf('curator'), { refuses: () => false, contradicts: NOT_WITH_NATIVE });
  describeWhatApplies(harnessOf('fast'), { refuses: isRefusedByFast, contradicts: NOT_WITH_NATIVE });
});
