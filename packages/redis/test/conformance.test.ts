import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/redis', () => {
  // The limit is generous, since a quiet machine needs a tenth of a second.
  describeBackend({ ...harness('conformance'), expiryGranularityMs: 8_000, atOnce: 4 });
});
