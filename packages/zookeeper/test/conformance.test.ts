import { describeBackend } from '@queuelock/conformance';
import { SINGLE } from './bench.ts';
import { harnesses } from './harness.ts';

describe('@queuelock/zookeeper', () => {
  // The tests allow 20 ticks from the end of a TTL to the removal of the expired entries. An idle machine
  // needs a tenth of that: the server removes an entry within two ticks.
  describeBackend({ ...harnesses()('curator'), expiryGranularityMs: 20 * SINGLE.tickTimeMs, atOnce: 4 });
});
