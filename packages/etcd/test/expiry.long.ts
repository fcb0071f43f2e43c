import { factsWithTitles } from '@queuelock/conformance';
import { harnessesOfEtcd } from './conformance-harness.ts';

const EXPIRY = factsWithTitles(
  'all entries of a crashed session are removed soon after its TTL',
  'a session that is not resumed ends with its TTL, and cannot be resumed later',
);

describe('the expiry of a lease in etcd', function () {
  this.timeout(60_000);
  const harness = harnessesOfEtcd()('etcd, one node,', { prefix: 'expiry/' });

  for (const fact of EXPIRY) {
    it(`happens within a second after the TTL: ${fact.title}`, () => fact.check(harness));
  }
});
