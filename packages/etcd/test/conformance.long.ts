import { describeBackend } from '@queuelock/conformance';
import { isQueueLockError } from '@queuelock/core/backend';
import { describeWhatApplies } from '@queuelock/harness/conformance';
import { harnessesOfEtcd } from './conformance-harness.ts';

describe('@queuelock/etcd', () => {
  const harnessOf = harnessesOfEtcd();

  describeBackend(
    harnessOf('etcd over npm etcd3, one node,', { transport: 'etcd3', prefix: 'conformance-etcd3/' }),
  );
  describeBackend(
    harnessOf('etcd over the transport http2, one node,', {
      transport: 'http2',
      prefix: 'conformance-http2/',
    }),
  );
  describeWhatApplies(
    {
      ...harnessOf('etcd, one node, naming fast,', {
        prefix: 'conformance-fast/',
        naming: 'fast',
      }),
      // The TTL is long, because the tests of this suite run at the same time and slow each other down.
      ttlMs: 4_000,
    },
    {
      refuses: (error) =>
        isQueueLockError(error, 'INVALID_ARGUMENT') && error.message.includes('with naming fast'),
    },
  );
});
