import { facts } from '@queuelock/conformance';
import { harness } from './harness.ts';

const SOON = /frees all its places soon after its TTL$|^a session that nobody resumes ends with its TTL/;

describe('the expiry of a lease in a SQLite file', () => {
  const own = harness();

  for (const fact of facts.filter(({ title }) => SOON.test(title))) {
    it(`comes within 0.8 s: ${fact.title}`, () => fact.check(own));
  }
});
