import { describeBackend } from '@queuelock/conformance';
import { harness } from './harness.ts';

describe('@queuelock/postgres', () => {
  describeBackend({ ...harness(), atOnce: 4 });
});
