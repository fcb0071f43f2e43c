import { describeBackend } from '@queuelock/conformance';
import { harnessesOfEtcd } from './conformance-harness.ts';

describe('@queuelock/etcd', () => {
  describeBackend({
    ...harnessesOfEtcd()('etcd, one node,', {
      prefix: 'conformance/',
      requestTimeoutMs: 5_000,
    }),
    // The TTL is longer than the server's minimum, because four tests of this suite run at a time and slow each other down.
    atOnce: 4,
    ttlMs: 3_000,
    // The entries of a dead session may stay for this long after its TTL. The limit is generous, since the server revokes expired leases only every
    // 500 ms.
    expiryGranularityMs: 10_000,
  });
});
