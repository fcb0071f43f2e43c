import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/sqlite', () => {
  // An idle machine ends a session within 0.1 s after its TTL. The larger limit of 8 s leaves room for a busy
  // machine.
  describeBackend({ ...harness(), expiryGranularityMs: 8_000, atOnce: 4 });
});
