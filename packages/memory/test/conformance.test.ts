import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

// On an idle machine, a session ends within milliseconds after its TTL. The limit of 5 s allows for a busy
// machine.
for (const latencyMs of [0, 2]) {
  describeBackend({ ...harness(latencyMs), expiryGranularityMs: 5_000, atOnce: 4 });
}
