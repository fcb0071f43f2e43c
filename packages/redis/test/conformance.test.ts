import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/redis', () => {
  // A quiet machine takes a tenth of a second.
  describeBackend({ ...harness('conformance'), expiryGranularityMs: 8_000, atOnce: 4 });
});
