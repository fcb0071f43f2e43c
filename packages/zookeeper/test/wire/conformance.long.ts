import { describeBackend } from '@queuelock/conformance';
import { isQueueLockError } from '@queuelock/core/backend';
import { describeWhatApplies } from '../../../../integration/conformance.ts';
import { harnesses } from '../harness.ts';

describe('@queuelock/zookeeper', () => {
  const harnessOf = harnesses('wire');

  describeBackend(harnessOf('curator'));
  describeWhatApplies(harnessOf('fast'), {
    refuses: (error) =>
      isQueueLockError(error, 'INVALID_ARGUMENT') && error.message.includes('with naming fast'),
  });
});
