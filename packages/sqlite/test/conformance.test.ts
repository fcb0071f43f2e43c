import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/sqlite', () => {
  // A quiet machine takes a tenth of a second.
  describeBackend({ ...harness(), expiryGranularityMs: 8_000, atOnce: 4 });
});
