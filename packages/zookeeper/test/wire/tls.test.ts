import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isQueueLockError } from '@queuelock/core/backend';
import { fromUrl, zookeeper, type ZooKeeperTls } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { firstValueFrom } from 'rxjs';
import { proxyTo } from '../own-server.ts';
import { Bench, SINGLE, eventually, newQueue, outcome, newSpec } from '../bench.ts';
import { hasZooKeeper } from '@queuelock/harness/services/zookeeper-process';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { startSecureZooKeeper, type SecureServer } from './secure-server.ts';

describe('TLS to ZooKeeper', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  let certificates: Certificates;
  let server: SecureServer;
  let port: number;

  before(async function () {
    this.timeout(60_000);
    const issued = await issueCertificates('DNS:localhost');
    if (!issued || !(await hasZooKeeper())) {
      this['skipReason'] = 'needs openssl and ZooKeeper as programs';
      return this.skip();
    }
    certificates = issued;
    server = await startSecureZooKeeper(certificates);
    after(() => server.stop());
    port = server.port;
  });
  afterEach(() => bench.clear());

  /** Resolves with the error of opening a session, or with `fine` if that succeeds. */
  async function opened(host: string, tls: ZooKeeperTls): Promise<string> {
    const options = {
      hosts: [`${host}:${port}`],
      ...SINGLE,
      connectTimeoutMs: 1_000,
    } as const;
    const backend = bench.keep(zookeeper({ ...options, tls }), (made) => made.close());
    return backend.open(4_000, signal).then(
      () => 'fine',
      (error: unknown) => String(error),
    );
  }

  it('carries the session of a client with a certificate', async () => {
    const { ca, client } = certificates;
    const options = {
      hosts: [`localhost:${port}`],
      tls: { ca, ...client },
      ...SINGLE,
    } as const;
    const backend = bench.keep(zookeeper(options), (made) => made.close());
    expect(backend.info.endpoint).to.equal(`zks://localhost:${port}`);
    const session = await backend.open(4_000, signal);
    const placement = await session.enqueue(newSpec(newQueue()));
    expect(placement.turn.admitted).to.equal(true);
    expect(await session.renew(signal)).to.be.greaterThan(0);
    const [finding] = await backend.diagnose!('');
    expect(finding).to.deep.include({ level: 'ok', about: `server localhost:${port}` });
  });

  it('carries the same session on the next connection after the first connection was cut', async () => {
    const { ca, client } = certificates;
    const proxy = await proxyTo(bench, `127.0.0.1:${port}`);
    const tls = { ca, ...client, servername: 'localhost' };
    const options = { hosts: [proxy.endpoint], tls, ...SINGLE } as const;
    const backend = bench.keep(zookeeper(options), (made) => made.close());
    const session = await backend.open(10_000, signal);
    const entry = newSpec(newQueue());
    const { order } = await session.enqueue(entry);
    proxy.cut();
    await eventually(async () => (await outcome(session.renew(signal))) === 'fine');
    expect(await session.enqueue(entry)).to.have.property('order', order);
  });

  it('carries replies that are longer than a TLS record', async () => {
    const { ca, client } = certificates;
    const options = {
      hosts: [`localhost:${port}`],
      tls: { ca, ...client },
      ...SINGLE,
    } as const;
    const backend = bench.keep(zookeeper(options), (made) => made.close());
    const session = await backend.open(10_000, signal);
    const [queue, value] = [newQueue(), 'x'.repeat(500_000)];
    await session.enqueue(newSpec(queue, { value }));
    const seen = await firstValueFrom(backend.observe(queue), { defaultValue: [] });
    expect(seen.map((entry) => entry.value)).to.deep.equal([value]);
  });

  it('is configured by a URL that names the files', async () => {
    const { ca, client } = certificates;
    const directory = await mkdtemp(join(tmpdir(), 'queuelock-pem-'));
    bench.keep(directory, (made) => rm(made, { recursive: true }));
    const parameters = new URLSearchParams({ tickTimeMs: '500', syncLimit: '2' });
    for (const [name, pem] of Object.entries({ ca, ...client })) {
      const file = join(directory, `${name}.pem`);
      await writeFile(file, pem);
      parameters.set(name, file);
    }
    const backend = fromUrl(`zks://localhost:${port}?${parameters.toString()}`);
    bench.keep(backend, (made) => made.close());
    expect(await outcome(backend.open(4_000, signal))).to.equal('fine');
  });

  it('checks the certificate against the configured server name', async () => {
    const { ca, client } = certificates;
    expect(await opened('127.0.0.1', { ca, ...client, servername: 'localhost' })).to.equal('fine');
  });

  it('fails, with the reason in the message, if a certificate is missing or not trusted', async () => {
    const { ca, client } = certificates;
    const output = await Promise.all([
      opened('127.0.0.1', { ca, ...client }),
      opened('localhost', { ca, ...client, servername: 'another' }),
      opened('localhost', client),
      opened('localhost', { ca }),
    ]);
    const reasons = [
      /does not match certificate/,
      /does not match certificate/,
      /the last attempt failed: unable to (get|verify).*\(the certificate .* unknown authority: tls\.ca, or ca of the URL\)/,
      /the last attempt failed: \S.* number \d+ \(the server requires a certificate that it trusts: tls\.cert and tls\.key/,
    ];
    for (const [index, text] of output.entries())
      expect(text)
        .to.match(/UNAVAILABLE/)
        .and.match(reasons[index]!);
  });

  it('refuses an invalid certificate or key at once, and its error does not contain it', () => {
    const { client, server } = certificates;
    const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
    for (const tls of [
      { ca: 'hush' },
      { cert: pem('hush'), key: pem('hush') },
      { key: client.key },
      { cert: client.cert, key: server.key },
      { CA: 'hush' },
    ]) {
      const failure = failureOf(() => zookeeper({ hosts: ['h1'], tls }));
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
