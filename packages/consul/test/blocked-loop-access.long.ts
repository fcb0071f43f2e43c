import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consul, fromUrl } from '@queuelock/consul';
import { BlockedLoop, expectKept, type BlockedLoopStage } from '@queuelock/harness/blocked-loop';
import { startConsul } from '@queuelock/harness/services';
import { issueCertificates } from '@queuelock/harness/services/certificates';
import { startConsulProcess } from '@queuelock/harness/services/consul-process';
import { pickPorts } from '@queuelock/harness/services/ports';

const MANAGEMENT = '7c1b9a66-0000-4000-8000-0a0b0c0d0e0f';
// The smallest TTL that Consul servers accept by default: 10 s. The tests with ACLs or TLS do not change it.
const TTL_MS = 10_000;
const MODULE = import.meta.resolve('@queuelock/consul');

describe('a holder with a blocked event loop, on a secured Consul', function () {
  this.timeout(120_000);

  async function expectKeptOn(stage: BlockedLoopStage): Promise<void> {
    const loop = await BlockedLoop.on(stage, TTL_MS);
    try {
      const { report } = await loop.run({ maxBlockedMs: 90_000, ttlMs: TTL_MS, blockMs: 20_000 });
      expectKept(report);
    } finally {
      await loop.close();
    }
  }

  it('keeps the lock with an ACL token', async () => {
    const acl = { enabled: true, default_policy: 'deny', tokens: { master: MANAGEMENT } };
    const server = await startConsul({ way: 'process', settings: { acl, primary_datacenter: 'dc1' } });
    const options = { hosts: server.endpoint, token: MANAGEMENT };
    await expectKeptOn({
      holder: { module: MODULE, backend: 'consul', options },
      connect: () => consul(options),
      stop: () => server.stop(),
    });
  });

  it('keeps the lock over TLS with the certificate files of a URL', async function () {
    const certificates = await issueCertificates();
    if (!certificates) {
      this['skipReason'] = 'there is no openssl';
      return this.skip();
    }
    const folder = await mkdtemp(join(tmpdir(), 'queuelock-consul-tls-'));
    const { ca, server: identity, client } = certificates;
    const files = { ca, cert: client.cert, key: client.key, server: identity.cert, secret: identity.key };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const at = (name: string): string => join(folder, name);
    const [port = 0] = await pickPorts(1);
    const tls = { ca_file: at('ca'), cert_file: at('server'), key_file: at('secret') };
    const server = await startConsulProcess({ ...tls, verify_incoming_https: true }, port);
    const url = `consuls://127.0.0.1:${port}?ca=${at('ca')}&cert=${at('cert')}&key=${at('key')}`;
    await expectKeptOn({
      holder: { module: MODULE, backend: 'fromUrl', options: url },
      connect: () => fromUrl(url),
      stop: async () => {
        await server.stop();
        await rm(folder, { recursive: true });
      },
    });
  });
});
