import { factsWithTitles } from '@queuelock/conformance';
import { harness } from './harness.ts';

const EXPIRY = factsWithTitles(
  'all entries of a crashed session are removed soon after its TTL',
  'a session that is not resumed ends with its TTL, and cannot be resumed later',
);

describe('an expiry in memory', () => {
  for (const fact of EXPIRY) {
    it(`happens within half a second after the TTL: ${fact.title}`, () => fact.check(harness(0)));
  }
});
