import { describeBackend } from '@queuelock/conformance';
import { SINGLE } from './bench.ts';
import { harnesses } from './harness.ts';

describe('@queuelock/zookeeper', () => {
  // Ten times what a quiet machine takes: the server frees a place within two ticks after the end of the time to live.
  describeBackend({ ...harnesses()('curator'), expiryGranularityMs: 20 * SINGLE.tickTimeMs, atOnce: 4 });
});
