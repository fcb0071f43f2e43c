import { factsWithTitles } from '@queuelock/conformance';
import { harness } from './harness.ts';

const EXPIRY = factsWithTitles(
  'all entries of a crashed session are removed soon after its TTL',
  'a session that is not resumed ends with its TTL, and cannot be resumed later',
);

describe('the expiry of a lease on Redis', () => {
  const own = harness('expiry');

  for (const fact of EXPIRY) {
    it(`comes within 0.8 s after the TTL: ${fact.title}`, () => fact.check(own));
  }
});
