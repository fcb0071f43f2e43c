import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

// An expiry takes some milliseconds on an idle machine. The limit of 5 s is for a busy one.
for (const latencyMs of [0, 2]) {
  describeBackend({ ...harness(latencyMs), expiryGranularityMs: 5_000, atOnce: 4 });
}
