import { factsWithTitles } from '@queuelock/conformance';
import { harnesses } from './harness.ts';

const EXPIRY = factsWithTitles(
  'all entries of a crashed session are removed soon after its TTL',
  'a session that is not resumed ends with its TTL, and cannot be resumed later',
);

describe('the expiry of a ZooKeeper session', function () {
  this.timeout(60_000);
  const harness = harnesses()('curator');

  for (const fact of EXPIRY) {
    it(`comes at most 2.5 server ticks after the end of the TTL: ${fact.title}`, () => fact.check(harness));
  }
});
