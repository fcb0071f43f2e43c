import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

// A quiet machine takes some milliseconds.
for (const latencyMs of [0, 2]) {
  describeBackend({ ...harness(latencyMs), expiryGranularityMs: 5_000, atOnce: 4 });
}
