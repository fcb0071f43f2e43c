import { facts } from '@queuelock/conformance';
import { harness } from './harness.ts';

const SOON = /frees all its places soon after its TTL$|^a session that nobody resumes ends with its TTL/;

describe('an expiry in memory', () => {
  for (const fact of facts.filter(({ title }) => SOON.test(title))) {
    it(`happens within half a second after the TTL: ${fact.title}`, () => fact.check(harness(0)));
  }
});
