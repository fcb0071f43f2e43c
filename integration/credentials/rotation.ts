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
 * The certificates that the server and its clients use at present. A test that replaces them overwrites the
 * properties of this object with the new certificates.
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
  /** URL of the package whose function `fromUrl` creates the backend from `url`. */
  readonly module: string;
  /** The URL of the backend, which names the client's certificate files. */
  readonly url: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server that reads its certificates from the files. */
export type StartRotatedServer = (files: LiveFiles) => Promise<RotatedServer>;

/** Creates a backend that reads the client's certificate files. */
export async function connectTo({ module, url }: RotatedServer): Promise<Backend> {
  const { fromUrl } = (await import(module)) as { readonly fromUrl: (url: string) => Backend };
  return fromUrl(url);
}

/** Defines the test of replaced certificates for one store. */
export function describeRotation(store: string, names: string, start: StartRotatedServer): void {
  describe(`replaced certificates of ${store}`, () => {
    it('are read from their files again, so that a holder keeps its lock when the server restarts with a new authority', async function () {
      this.timeout(120_000);
      const isDone = await withTwoGenerations(names, async (files, fresh) => {
        const server = await start(files);
        try {
          await rotate(server, files, fresh);
        } finally {
          await server.stop();
        }
      });
      if (isDone) return;
      this['skipReason'] = 'needs openssl';
      this.skip();
    });
  });
}

/**
 * Issues two generations of certificates, and calls `work` with files that contain the old certificates, and
 * with the new certificates. Resolves with `false` if openssl is missing.
 */
export async function withTwoGenerations(
  names: string,
  work: (files: LiveFiles, fresh: Certificates) => Promise<void>,
): Promise<boolean> {
  const [old, fresh] = [await issueCertificates(names), await issueCertificates(names)];
  if (!old || !fresh) return false;
  const directory = await mkdtemp(join(tmpdir(), 'queuelock-rotation-'));
  try {
    await work(await filesIn(directory, { ...old }), fresh);
  } finally {
    await rm(directory, { recursive: true });
  }
  return true;
}

async function rotate(server: RotatedServer, files: LiveFiles, fresh: Certificates): Promise<void> {
  await using locks = createLockClient(await connectTo(server), { ttlMs: TTL_MS });
  const errors: QueueLockError[] = [];
  const subscription = locks.errors$.subscribe((error) => errors.push(error));
  const hold = await locks.acquire('rotated', { timeoutMs: WITHIN_MS });
  const waiting = locks.acquire('rotated', { timeoutMs: 60_000 });
  const half = fresh.ca.subarray(0, fresh.ca.length / 2);
  // Gives the server the new certificates. Meanwhile the client's file of authorities is only half written.
  await renewServer(files, fresh);
  await writeFile(files.client.ca, half);
  await server.restart();
  await until(async () => expect(errors.length).to.be.above(0), {
    what: 'a read fails',
    withinMs: WITHIN_MS,
  });
  expect(errors[0]).to.include({ code: 'UNAVAILABLE' });
  expect(errors[0]!.message).to.match(/cannot be read: .* is in PEM.*the last valid ones are used/);
  await renewClient(files, fresh);
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
  await renewClient(files, certificates);
  return files;
}

/** Replaces the certificates of the server, which it reads when it starts. */
export async function renewServer(files: LiveFiles, fresh: Certificates): Promise<void> {
  Object.assign(files.certificates, fresh);
  await writeServer(files);
}

/** Replaces the certificate files of the client. */
export async function renewClient({ client }: LiveFiles, fresh: Certificates): Promise<void> {
  await writeFile(client.cert, fresh.client.cert);
  await writeFile(client.key, fresh.client.key);
  await writeFile(client.ca, fresh.ca);
}

/** Writes the certificate files of the server. Existing files keep their owner and mode. */
async function writeServer({ certificates, server }: LiveFiles): Promise<void> {
  await writeFile(server.ca, certificates.ca);
  await writeFile(server.cert, certificates.server.cert);
  await writeFile(server.key, certificates.server.key);
}

/** Returns the parameters of a backend's URL that name the certificate files of the client. */
export function parametersOf({ client }: LiveFiles): string {
  return new URLSearchParams({ ...client }).toString();
}
