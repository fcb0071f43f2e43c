import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/mysql', () => {
  describeBackend({ ...harness(), expiryGranularityMs: 8_000, atOnce: 4 });
});
