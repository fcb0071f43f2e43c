import { describeBackend } from '@queuelock/conformance';
import { isQueueLockError } from '@queuelock/core/backend';
import { describeWhatApplies } from '@queuelock/harness/conformance';
import { harnesses } from './harness.ts';

for (const driver of ['wire', 'native'] as const) {
  describe(`@queuelock/zookeeper with transport ${driver}`, () => {
    const harnessOf = harnesses(driver);

    describeBackend(harnessOf('curator'));
    describeWhatApplies(harnessOf('fast'), {
      refuses: (error) =>
        isQueueLockError(error, 'INVALID_ARGUMENT') && error.message.includes('with naming fast'),
    });
  });
}
