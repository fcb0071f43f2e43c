import { facts } from '@queuelock/conformance';
import { harnesses } from './harness.ts';

const SOON = /frees all its places soon after its TTL$|^a session that nobody resumes ends with its TTL/;

describe('the expiry of a ZooKeeper session', function () {
  this.timeout(60_000);
  const harness = harnesses()('curator');

  for (const fact of facts.filter(({ title }) => SOON.test(title))) {
    it(`comes within two and a half ticks of the server after the TTL: ${fact.title}`, () =>
      fact.check(harness));
  }
});
