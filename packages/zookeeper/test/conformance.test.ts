import { describeBackend } from '@queuelock/conformance';
import { SINGLE } from './bench.ts';
import { harnesses } from './harness.ts';

describe('@queuelock/zookeeper', () => {
  // The limit for the end of expired entries is 20 ticks. An idle machine needs a tenth: the server removes
  // an entry within two ticks after the end of the TTL.
  describeBackend({ ...harnesses()('curator'), expiryGranularityMs: 20 * SINGLE.tickTimeMs, atOnce: 4 });
});
