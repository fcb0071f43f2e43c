import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLockClient } from '@queuelock/core';
import { etcd, fromUrl, type EtcdOptions } from '@queuelock/etcd';
import { expect } from 'chai';
import type { ProcessService } from '@queuelock/harness/services/service';
import { eventually } from './clients.ts';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { startOwnServer } from './own-server.ts';
import { startTlsServer } from '@queuelock/harness/services/etcd-tls';

const neverAborted = new AbortController().signal;

describe('connections to an etcd server with TLS and client certificates', function () {
  this.timeout(60_000);
  let certificates: Certificates;
  let server: ProcessService | undefined;
  let plain: ProcessService | undefined;

  before(async function () {
    const issued = await issueCertificates();
    if (!issued) {
      this['skipReason'] = 'there is no openssl';
      this.skip();
    }
    certificates = issued;
    [server, plain] = await Promise.all([startTlsServer(issued), startOwnServer()]);
  });
  after(async () => {
    await server?.stop();
    await plain?.stop();
  });

  /** Connects again and again until the error message matches. On a busy machine a single attempt may time out instead. */
  async function refusedWith(options: EtcdOptions, words: RegExp): Promise<void> {
    const backend = etcd(options);
    let last: unknown;
    try {
      await eventually(`it is refused with ${String(words)}`, async () => {
        last = await backend.open(10_000, neverAborted).catch((error: unknown) => error);
        return last instanceof Error && words.test(last.message);
      });
    } catch (error) {
      throw new Error(`the last refusal was ${String(last)}`, { cause: error });
    } finally {
      await backend.close();
    }
    expect(last).to.have.property('code', 'UNAVAILABLE');
  }

  for (const transport of ['etcd3', 'http2', 'socket'] as const) {
    describe(`over ${transport}`, () => {
      const https = (): string => `https://${server!.endpoint}`;

      it('let clients with a certificate acquire a lock and hand it off', async () => {
        const { ca: rootCertificate, client } = certificates;
        const credentials = { rootCertificate, certChain: client.cert, privateKey: client.key };
        await using one = createLockClient(etcd({ hosts: https(), transport, credentials }));
        await using other = createLockClient(etcd({ hosts: https(), transport, credentials }));
        const order: string[] = [];
        const held = await one.acquire(`tls ${transport}`);
        const next = other.run(`tls ${transport}`, () => order.push('next'));
        order.push('first');
        await held.release();
        await next;
        expect(order).to.deep.equal(['first', 'next']);
      });

      it('let clients acquire a lock when their URL names the certificate files', async () => {
        const directory = await mkdtemp(join(tmpdir(), 'queuelock-tls-'));
        const { ca, client } = certificates;
        const files = { ca, cert: client.cert, key: client.key };
        for (const [name, pem] of Object.entries(files)) await writeFile(join(directory, name), pem);
        const named = Object.keys(files).map((name) => `${name}=${join(directory, name)}`);
        const url = `etcds://${server!.endpoint}?${named.join('&')}&transport=${transport}`;
        await using locks = createLockClient(fromUrl(url));
        expect(await locks.run(`tls by URL ${transport}`, ({ held }) => held)).to.equal(true);
        await rm(directory, { recursive: true });
      });

      it('fail for a client without a certificate, with an error that names the missing option', () =>
        refusedWith(
          { hosts: https(), transport, credentials: { rootCertificate: certificates.ca } },
          /the member requires a certificate that it trusts: credentials\.certChain and credentials\.privateKey, or cert and key of the URL/,
        ));

      it("fail for a client that does not trust the server's authority, with an error that names the option", () => {
        const { client } = certificates;
        const credentials = { certChain: client.cert, privateKey: client.key };
        return refusedWith(
          { hosts: https(), transport, credentials },
          /issued by an unknown authority: credentials\.rootCertificate, or ca of the URL/,
        );
      });

      it('fail for a client without TLS, with an error that the member probably expects TLS', () =>
        refusedWith(
          { hosts: server!.endpoint, transport },
          /as a member that expects TLS does: https:\/\/ in hosts/,
        ));

      it('fail if the client uses TLS and the server does not, with an error that states this', () =>
        refusedWith({ hosts: `https://${plain!.endpoint}`, transport }, /does not seem to speak TLS/));
    });
  }
});
