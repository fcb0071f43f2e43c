import { readFileSync } from 'node:fs';
import { invalidArgument, parseBackendUrl, type Backend, type BackendUrl } from '@queuelock/core/backend';
import { etcd } from './backend.ts';
import type { Naming } from './naming.ts';
import type { Beats, EtcdOptions, Transport } from './options.ts';

const CREDENTIAL_OF = { ca: 'rootCertificate', cert: 'certChain', key: 'privateKey' } as const;

/**
 * A backend by URL: `etcd://user:password@h1:2379,h2:2379/prefix`, or `etcds://` for TLS with the PEM files
 * `?ca=file&cert=file&key=file`; `?beats=strict`, `?naming=fast` and `?transport=http2` are the options of these names. The path becomes a prefix that ends in a slash: `etcd://h/team` keeps the lock `jobs` under `team/jobs/`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for other schemes, unknown parameters and files that cannot be read.
 */
export function fromUrl(url: string): Backend {
  return etcd(optionsOf(parseBackendUrl(url)));
}

/** What the URL says, as options. Exported for tests. */
export function optionsOf(url: BackendUrl): EtcdOptions {
  const { scheme, hosts, path, username, password = '', params } = url;
  if (scheme !== 'etcd' && scheme !== 'etcds') {
    throw invalidArgument('backend URL', url.display, 'starts with etcd:// or etcds://');
  }
  if (password !== '' && username === undefined)
    throw invalidArgument('backend URL', url.display, 'has a user before the password');
  const { beats, naming, transport, ...files } = Object.fromEntries(params);
  const credentials = readCredentials(files);
  if (scheme === 'etcd' && credentials !== undefined) {
    throw invalidArgument('backend URL', url.display, 'starts with etcds:// when it names certificates');
  }
  return {
    hosts: (hosts.length > 0 ? hosts : ['127.0.0.1']).map(
      (host) => `${scheme === 'etcds' ? 'https' : 'http'}://${host}`,
    ),
    ...(path === '' ? {} : { prefix: path.endsWith('/') ? path : `${path}/` }),
    ...(username === undefined ? {} : { auth: { username, password } }),
    ...(credentials === undefined ? {} : { credentials }),
    // Checked with the other options.
    ...(beats === undefined ? {} : { beats: beats as Beats }),
    ...(naming === undefined ? {} : { naming: naming as Naming }),
    ...(transport === undefined ? {} : { transport: transport as Transport }),
  };
}

function readCredentials(files: Readonly<Record<string, string>>): EtcdOptions['credentials'] {
  const credentials: { -readonly [K in keyof NonNullable<EtcdOptions['credentials']>]: Buffer } = {};
  for (const [name, file] of Object.entries(files)) {
    if (!isCredential(name))
      throw invalidArgument(
        'backend URL',
        name,
        'has the parameters ca, cert, key, beats, naming and transport only',
      );
    credentials[CREDENTIAL_OF[name]] = readPem(name, file);
  }
  const names = Object.keys(files);
  if ('cert' in files !== 'key' in files)
    throw invalidArgument('backend URL', names.join(), 'has cert and key together');
  return names.length === 0 ? undefined : credentials;
}

function isCredential(name: string): name is keyof typeof CREDENTIAL_OF {
  return Object.hasOwn(CREDENTIAL_OF, name);
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidArgument(
      `backend URL parameter ${name}`,
      file,
      `names a PEM file that can be read (${reason})`,
    );
  }
}
