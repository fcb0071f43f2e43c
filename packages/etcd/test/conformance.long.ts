import { describeBackend } from '@queuelock/conformance';
import { isQueueLockError } from '@queuelock/core/backend';
import { describeWhatApplies } from '@queuelock/harness/conformance';
import { harnessesOfEtcd } from './conformance-harness.ts';

describe('@queuelock/etcd', () => {
  const harnessOf = harnessesOfEtcd();

  describeBackend(
    harnessOf('etcd over HTTP/2, one node,', { transport: 'http2', prefix: 'conformance-http2/' }),
  );
  describeWhatApplies(
    {
      ...harnessOf('etcd over HTTP/2, one node, naming fast,', {
        transport: 'http2',
        prefix: 'conformance-fast/',
        naming: 'fast',
      }),
      // Concurrent facts make each other slower.
      ttlMs: 4_000,
    },
    {
      refuses: (error) =>
        isQueueLockError(error, 'INVALID_ARGUMENT') && error.message.includes('with naming fast'),
    },
  );
});
