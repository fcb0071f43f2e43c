import { expect } from 'chai';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createLockClient, type Backend } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';
import { postgres } from '@queuelock/postgres';
import { redis } from '@queuelock/redis';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { mariaDbAccess, startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { pickPorts } from '@queuelock/harness/services/ports';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { startRedisProcess } from '@queuelock/harness/services/redis-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { giveTo, unprivilegedUser, type User } from '@queuelock/harness/services/unprivileged';

interface Secure {
  readonly server: ProcessService;
  readonly connect: (tls: { readonly ca: Buffer }) => Backend;
}

/** Paths of files with a server's certificate, its private key, and the certificate of its authority. */
interface Files {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const startSecure: Readonly<Record<string, (files: Files) => Promise<Secure>>> = {
  async Redis({ ca, cert, key }) {
    const [port = 0] = await pickPorts(1);
    const server = await startRedisProcess({
      'tls-port': String(port),
      'tls-cert-file': cert,
      'tls-key-file': key,
      'tls-ca-cert-file': ca,
      'tls-auth-clients': 'no',
    });
    return { server, connect: (tls) => redis({ url: `rediss://localhost:${port}`, tls }) };
  },

  async PostgreSQL({ cert, key }) {
    await giveTo(await user('postgres'), key);
    const server = await startPostgres();
    const operator = new Client({ connectionString: postgresUrl(server) });
    await operator.connect();
    for (const [setting, value] of Object.entries({ ssl_cert_file: cert, ssl_key_file: key, ssl: 'on' }))
      await operator.query(`alter system set ${setting} = '${value}'`);
    await operator.query('select pg_reload_conf()');
    await operator.end();
    return { server, connect: (tls) => postgres({ url: postgresUrl(server), tls }) };
  },

  async MariaDB({ cert, key }) {
    await giveTo(await user('mysql'), key);
    const server = await startMariaDb([
      `--ssl-cert=${cert}`,
      `--ssl-key=${key}`,
      '--require-secure-transport=off',
    ]);
    const { user: name, database } = mariaDbAccess(server);
    return {
      server,
      connect: (tls) => mysql({ url: `mysql://${name}@${server.endpoint}/${database}`, tls }),
    };
  },
};

/**
 * Returns a system user without privileges that can run the server. Returns `undefined` if this process may
 * run it as its own user.
 */
function user(name: string): Promise<User> {
  return unprivilegedUser(name).catch(() => undefined);
}

for (const [name, start] of Object.entries(startSecure)) {
  describe(`${name} with TLS`, function () {
    this.timeout(120_000);
    let directory: string;
    let authority: Certificates;
    let secure: Secure;

    before(async function () {
      const issued = await issueCertificates();
      if (!issued) {
        this['skipReason'] = 'there is no openssl';
        return this.skip();
      }
      authority = issued;
      directory = await mkdtemp(join(tmpdir(), 'queuelock-tls-'));
      await chmod(directory, 0o755);
      const files = Object.entries({ ca: authority.ca, ...authority.server }).map(async ([kind, pem]) => {
        const file = join(directory, `${kind}.pem`);
        await writeFile(file, pem, { mode: kind === 'key' ? 0o600 : 0o644 });
        return [kind, file] as const;
      });
      secure = await start(Object.fromEntries(await Promise.all(files)) as unknown as Files);
    });
    after(async () => {
      await secure.server.stop();
      await rm(directory, { recursive: true });
    });

    it('serves a client that trusts the authority of the server certificate', async () => {
      const [one, other] = [authority, authority].map(({ ca }) =>
        createLockClient(secure.connect({ ca }), { connectTimeoutMs: 30_000 }),
      );
      const ownership = await one!.acquire('jobs');
      const next = other!.acquire('jobs');
      await ownership.release();
      expect((await next).token > ownership.token).to.equal(true);
      await Promise.all([one!.close(), other!.close()]);
    });

    it('receives no data from a client that trusts only another certificate authority', async () => {
      const stranger = (await issueCertificates())!;
      const backend = secure.connect({ ca: stranger.ca });
      const refusal = await backend.open(10_000, new AbortController().signal).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      await backend.close();
      expect(refusal?.message).to.match(
        /self[- ]signed certificate|unable to verify|certificate signature failure/,
      );
    });
  });
}
