import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Identity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * A certificate authority, and the certificates with keys that it has issued to a server and a client, as PEM
 * texts.
 */
export interface Certificates {
  readonly ca: Buffer;
  readonly server: Identity;
  readonly client: Identity;
}

const run = promisify(execFile);

/**
 * Creates a certificate authority, and certificates for a server and a client. Resolves with `undefined` on a
 * machine without openssl.
 * @param names The server's `subjectAltName`.
 */
export async function issueCertificates(
  names = 'IP:127.0.0.1,DNS:localhost',
): Promise<Certificates | undefined> {
  if (!(await hasOpenssl())) return undefined;
  const directory = await mkdtemp(join(tmpdir(), 'queuelock-certificates-'));
  try {
    const file = (name: string): string => join(directory, name);
    const newKey = (name: string): readonly string[] => [
      ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', file(`${name}.key`), '-subj', `/CN=${name}`],
    ];
    await run('openssl', ['req', '-x509', '-days', '2', ...newKey('ca'), '-out', file('ca.pem')]);
    await writeFile(file('names'), `subjectAltName=${names}`);
    const issue = async (name: string): Promise<Identity> => {
      await run('openssl', ['req', '-new', ...newKey(name), '-out', file(`${name}.csr`)]);
      const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2'];
      const request = [
        '-req',
        '-in',
        file(`${name}.csr`),
        '-extfile',
        file('names'),
        '-out',
        file(`${name}.pem`),
      ];
      await run('openssl', ['x509', ...request, ...signer]);
      return { cert: await readFile(file(`${name}.pem`)), key: await readFile(file(`${name}.key`)) };
    };
    const [server, client] = [await issue('server'), await issue('client')];
    return { ca: await readFile(file('ca.pem')), server, client };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function hasOpenssl(): Promise<boolean> {
  return run('openssl', ['version']).then(
    () => true,
    () => false,
  );
}
