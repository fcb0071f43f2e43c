import { facts } from '@queuelock/conformance';
import { harnessesOfEtcd } from './conformance-harness.ts';

const SOON = /frees all its places soon after its TTL$|^a session that nobody resumes ends with its TTL/;

describe('the expiry of a lease in etcd', function () {
  this.timeout(60_000);
  const harness = harnessesOfEtcd()('etcd, one node,', { prefix: 'expiry/' });

  for (const fact of facts.filter(({ title }) => SOON.test(title))) {
    it(`happens within a second after the TTL: ${fact.title}`, () => fact.check(harness));
  }
});
