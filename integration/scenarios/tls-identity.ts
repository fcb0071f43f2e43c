import type { Backend } from '@queuelock/core/backend';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { expect } from 'chai';
import { startTlsServer, type Prelude, type TlsServer } from './tls-server.ts';

/** How a client of a store connects, and what it exchanges with the server before TLS. */
export interface TlsClient {
  readonly prelude: Prelude;
  /** @param host name or address of the server, with the port */
  readonly connect: (host: string, ca: Buffer) => Backend;
}

/**
 * Defines the tests of how each client checks a server's certificate. The keys of `clients` are their names
 * in titles.
 */
export function describeTlsIdentity(clients: Readonly<Record<string, TlsClient>>): void {
  describe('the certificate of a server', function () {
    this.timeout(60_000);
    const issued: Partial<Record<'address' | 'name', Certificates>> = {};

    before(async function () {
      const [address, name] = await Promise.all([
        issueCertificates('IP:127.0.0.1'),
        issueCertificates('DNS:localhost'),
      ]);
      if (!address || !name) {
        this['skipReason'] = 'there is no openssl';
        return this.skip();
      }
      Object.assign(issued, { address, name });
    });

    async function withServer<T>(
      { prelude, connect }: TlsClient,
      { certificate, host }: { readonly certificate: keyof typeof issued; readonly host: string },
      use: (backend: Backend, server: TlsServer) => Promise<T>,
    ): Promise<T> {
      const { ca, server: identity } = issued[certificate]!;
      const server = await startTlsServer(identity, prelude);
      const backend = connect(`${host}:${String(server.port)}`, ca);
      try {
        return await use(backend, server);
      } finally {
        await backend.close();
        await server.close();
      }
    }

    async function trusts(how: TlsClient, certificate: keyof typeof issued, host: string): Promise<void> {
      await withServer(how, { certificate, host }, async (backend, server) => {
        const given = new AbortController();
        const opened = backend.open(30_000, given.signal).catch(() => undefined);
        await server.trusted;
        given.abort();
        await opened;
      });
    }

    async function refuses(how: TlsClient, certificate: keyof typeof issued, host: string): Promise<void> {
      await withServer(how, { certificate, host }, async (backend, server) => {
        const { signal } = new AbortController();
        // Opens a session repeatedly until a handshake has begun, because on a busy machine the opening may
        // fail before that.
        let refusal: unknown;
        do refusal = await backend.open(30_000, signal).catch((error: unknown) => error);
        while (server.handshakes === 0);
        expect(refusal).to.have.property('code', 'UNAVAILABLE');
        expect(server.isTrusted).to.equal(false);
      });
    }

    for (const [store, how] of Object.entries(clients)) {
      it(`is accepted by ${store} when it is for the address or the name of the host`, () =>
        Promise.all([trusts(how, 'address', '127.0.0.1'), trusts(how, 'name', 'localhost')]));

      it(`is rejected by ${store} before any data is sent when it is for another host`, () =>
        Promise.all([refuses(how, 'name', '127.0.0.1'), refuses(how, 'address', 'localhost')]));
    }
  });
}
