import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { Bench, SINGLE } from './bench.ts';
import { ownServer } from './own-server.ts';

describe('a ZooKeeper server that requires SASL', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('denies access with a message that names SASL', async () => {
    const { endpoint } = await ownServer(bench, {
      'zookeeper.sessionRequireClientSASLAuth': true,
      'zookeeper.authProvider.sasl': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider',
    });
    const backend = bench.keep(zookeeper({ hosts: [endpoint], ...SINGLE }), (made) => made.close());
    const failure = await backend.open(4_000, new AbortController().signal).catch((error: unknown) => error);
    expect(String(failure)).to.match(/ACCESS_DENIED.*SASL/);
  });
});
