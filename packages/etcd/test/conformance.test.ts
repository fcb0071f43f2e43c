import { describeBackend } from '@queuelock/conformance';
import { harnessesOfEtcd } from './conformance-harness.ts';

describe('@queuelock/etcd', () => {
  describeBackend({
    ...harnessesOfEtcd()('etcd, one node,', {
      prefix: 'conformance/',
      requestTimeoutMs: 5_000,
    }),
    // Concurrent facts make each other slower.
    atOnce: 4,
    ttlMs: 3_000,
    // Many times what it needs: the server revokes expired leases every 500 ms.
    expiryGranularityMs: 10_000,
  });
});
