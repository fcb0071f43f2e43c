import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/consul', () => {
  describeBackend({ ...harness('conformance/'), expiryGranularityMs: 10_000, atOnce: 4 });
});
