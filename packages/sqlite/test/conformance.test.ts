import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/sqlite', () => {
  // The limit is generous, since a quiet machine needs 0.1 s.
  describeBackend({ ...harness(), expiryGranularityMs: 8_000, atOnce: 4 });
});
