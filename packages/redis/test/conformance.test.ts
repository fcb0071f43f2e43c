import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/redis', () => {
  // An idle machine ends a session within 0.1 s after its TTL. The tests allow 8 s, since the machine may be
  // busy.
  describeBackend({ ...harness('conformance'), expiryGranularityMs: 8_000, atOnce: 4 });
});
