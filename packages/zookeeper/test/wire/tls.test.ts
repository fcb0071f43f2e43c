import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { isQueueLockError } from '@queuelock/core/backend';
import { zookeeper, type ZooKeeperTls } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { sharedZooKeeper } from '../../../../integration/services.ts';
import { splitEndpoint } from '../../../../integration/services/endpoint.ts';
import { Bench, SINGLE, newQueue, outcome, wish } from '../bench.ts';
import { hasOpenssl, issueCertificates, type Certificates } from './certificates.ts';

describe('TLS to ZooKeeper', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  let certificates: Certificates;
  /** What stands in front of a server here does the TLS for it. */
  let terminator: Server | undefined;
  let port: number;

  before(async function () {
    if (!(await hasOpenssl())) {
      this['skipReason'] = 'needs openssl';
      this.skip();
    }
    certificates = await issueCertificates();
    const { server, ca } = certificates;
    const { endpoint } = await sharedZooKeeper('TLS of @queuelock/zookeeper');
    terminator = createServer({ ...server, ca, requestCert: true, rejectUnauthorized: true }, (socket) => {
      const behind = connect({ ...splitEndpoint(endpoint), noDelay: true });
      for (const [from, to] of [
        [socket, behind],
        [behind, socket],
      ] as const) {
        from.pipe(to);
        from.on('error', () => to.destroy());
      }
    });
    terminator.listen(0, '127.0.0.1');
    await once(terminator, 'listening');
    port = (terminator.address() as AddressInfo).port;
  });
  afterEach(() => bench.clear());
  after(() => terminator?.close());

  function opened(host: string, tls: ZooKeeperTls): Promise<string> {
    const options = {
      hosts: [`${host}:${port}`],
      driver: 'wire',
      ...SINGLE,
      connectTimeoutMs: 1_000,
    } as const;
    const backend = bench.keep(zookeeper({ ...options, tls }), (made) => made.close());
    return outcome(backend.open(4_000, signal));
  }

  it('carries a session for a client with a certificate, to a server with the name of the host', async () => {
    const { ca, client } = certificates;
    const options = {
      hosts: [`localhost:${port}`],
      driver: 'wire',
      tls: { ca, ...client },
      ...SINGLE,
    } as const;
    const backend = bench.keep(zookeeper(options), (made) => made.close());
    expect(backend.info.endpoint).to.equal(`zks://localhost:${port}`);
    const session = await backend.open(4_000, signal);
    const placement = await session.enqueue(wish(newQueue()));
    expect(placement.turn.admitted).to.equal(true);
    expect(await session.renew(signal)).to.be.greaterThan(0);
    const [finding] = await backend.examine!('');
    expect(finding).to.deep.include({ level: 'fine', about: `server localhost:${port}` });
  });

  it('takes the name of the server that is asked for', async () => {
    const { ca, client } = certificates;
    expect(await opened('127.0.0.1', { ca, ...client, servername: 'localhost' })).to.equal('fine');
  });

  it('is not had with a server of another name, of an unknown authority, or without a certificate', async () => {
    const { ca, client } = certificates;
    expect(
      await Promise.all([
        opened('127.0.0.1', { ca, ...client }),
        opened('localhost', { ca, ...client, servername: 'another' }),
        opened('localhost', client),
        opened('localhost', { ca }),
      ]),
    ).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE']);
  });

  it('with what is no certificate or key is refused at once, and it is not repeated', () => {
    const { client, server } = certificates;
    const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
    for (const tls of [
      { ca: 'hush' },
      { cert: pem('hush'), key: pem('hush') },
      { key: client.key },
      { cert: client.cert, key: server.key },
      { CA: 'hush' },
    ]) {
      const failure = failureOf(() => zookeeper({ hosts: ['h1'], driver: 'wire', tls }));
      expect(isQueueLockError(failure, 'INVALID_ARGUMENT'), String(failure)).to.equal(true);
      expect(String(failure)).to.not.include('hush');
    }
  });
});

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
