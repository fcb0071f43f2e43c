import { facts } from '@queuelock/conformance';
import { harness } from './harness.ts';

const SOON = /frees all its places soon after its TTL$|^a session that nobody resumes ends with its TTL/;

describe('the expiry of a lease on Redis', () => {
  const own = harness('expiry');

  for (const fact of facts.filter(({ title }) => SOON.test(title))) {
    it(`comes within eight tenths of a second: ${fact.title}`, () => fact.check(own));
  }
});
