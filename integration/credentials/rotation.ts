import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLockClient, type Backend, type QueueLockError } from '@queuelock/core';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { until } from '@queuelock/harness/services/until';
import { expect } from 'chai';

const TTL_MS = 20_000;
const WITHIN_MS = 15_000;

/**
 * The certificates in use. The test overwrites the properties of this object when it replaces the
 * certificates.
 */
type LiveCertificates = { -readonly [Name in keyof Certificates]: Certificates[Name] };

/** The files of a server and of its clients, and the certificates in them. */
export interface LiveFiles {
  readonly certificates: LiveCertificates;
  /**
   * Paths of the server's files. All users may read the files and their directory, since some servers run as
   * another user.
   */
  readonly server: PemPaths;
  readonly client: PemPaths;
}

interface PemPaths {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * A server that reads its certificate files when it starts. It trusts a client if the authority in its file
 * `ca` has signed the client's certificate.
 */
export interface RotatedServer {
  /** Returns a backend that reads the client's certificate files. */
  connect(): Backend;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Defines the test of replaced certificates for one store. */
export function describeRotation(
  store: string,
  names: string,
  start: (files: LiveFiles) => Promise<RotatedServer>,
): void {
  describe(`replaced certificates of ${store}`, () => {
    it('are read again, so that a holder keeps its lock while the server restarts with a new authority', async function () {
      this.timeout(120_000);
      const generations = [await issueCertificates(names), await issueCertificates(names)] as const;
      const [old, fresh] = generations;
      if (!old || !fresh) {
        this['skipReason'] = 'needs openssl';
        return this.skip();
      }
      const directory = await mkdtemp(join(tmpdir(), 'queuelock-rotation-'));
      const files = await filesIn(directory, { ...old });
      const server = await start(files);
      try {
        await rotate(server, files, fresh);
      } finally {
        await server.stop();
        await rm(directory, { recursive: true });
      }
    });
  });
}

async function rotate(server: RotatedServer, files: LiveFiles, fresh: Certificates): Promise<void> {
  await using locks = createLockClient(server.connect(), { ttlMs: TTL_MS });
  const errors: QueueLockError[] = [];
  const subscription = locks.errors$.subscribe((error) => errors.push(error));
  const hold = await locks.acquire('rotated', { timeoutMs: WITHIN_MS });
  const waiting = locks.acquire('rotated', { timeoutMs: 60_000 });
  const [whole, half] = [fresh.ca, fresh.ca.subarray(0, fresh.ca.length / 2)];
  // Gives the server the new certificates. Meanwhile the client finds a half-written file, as it may during a
  // replacement.
  Object.assign(files.certificates, fresh);
  await writeServer(files);
  await writeFile(files.client.ca, half);
  await server.restart();
  await until(async () => expect(errors.length).to.be.above(0), {
    what: 'a read fails',
    withinMs: WITHIN_MS,
  });
  expect(errors[0]).to.include({ code: 'UNAVAILABLE' });
  expect(errors[0]!.message).to.match(/cannot be read: .* is in PEM.*the last valid ones are used/);
  await writeFile(files.client.cert, fresh.client.cert);
  await writeFile(files.client.key, fresh.client.key);
  await writeFile(files.client.ca, whole);
  expect(await locks.run('another', ({ held }) => held, { timeoutMs: WITHIN_MS })).to.equal(true);
  const deadline = (): number => performance.now() + hold.remainingMs;
  const reached = deadline();
  await until(async () => expect(deadline()).to.be.above(reached + 500), {
    what: 'a heartbeat over the new connection',
    withinMs: WITHIN_MS,
  });
  expect([hold.held, hold.signal.aborted]).to.deep.equal([true, false]);
  await hold.release();
  await (await waiting).release();
  subscription.unsubscribe();
}

async function filesIn(directory: string, certificates: LiveCertificates): Promise<LiveFiles> {
  await chmod(directory, 0o755);
  const paths = async (owner: string): Promise<PemPaths> => {
    const folder = join(directory, owner);
    await mkdir(folder, { mode: 0o755 });
    return { ca: join(folder, 'ca.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  };
  const files = { certificates, server: await paths('server'), client: await paths('client') };
  await writeServer(files);
  await writeFile(files.client.ca, certificates.ca);
  await writeFile(files.client.cert, certificates.client.cert);
  await writeFile(files.client.key, certificates.client.key);
  return files;
}

/** Writes the files of the server. Existing files keep their owner and mode. */
async function writeServer({ certificates, server }: LiveFiles): Promise<void> {
  await writeFile(server.ca, certificates.ca);
  await writeFile(server.cert, certificates.server.cert);
  await writeFile(server.key, certificates.server.key);
}

/** Returns the parameters of a URL that names the files of the client. */
export function parametersOf({ client }: LiveFiles): string {
  return new URLSearchParams({ ...client }).toString();
}
