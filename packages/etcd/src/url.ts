import {
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  type Backend,
  type BackendUrl,
  type KnownOptions,
  type PemFiles,
} from '@queuelock/core/backend';
import { etcdOver } from './backend.ts';
import { checkedPems, pemsIn } from './api/credentials.ts';
import type { Naming } from './api/naming.ts';
import type { EtcdOptions } from './api/options.ts';
import { driverOf } from './wire/transport.ts';

/** The parameters of an etcd URL: PEM files, and options under their own names. */
interface Parameters extends Pick<EtcdOptions, 'heartbeatProof' | 'transport'>, PemFiles {
  readonly naming?: Naming;
}

const PARAMETERS: KnownOptions<Parameters> = {
  ca: 'string',
  cert: 'string',
  key: 'string',
  heartbeatProof: 'string',
  naming: 'string',
  transport: 'string',
};

/**
 * Returns a backend by URL: `etcd://user:password@h1:2379,h2:2379/prefix`, or `etcds://` for TLS with the PEM files
 * `?ca=file&cert=file&key=file`. The parameters `?heartbeatProof=strict`, `?naming=fast` and `?transport=socket` are the options of these
 * names. The path becomes a prefix that ends in a slash: `etcd://h/team` stores the lock `jobs` under `team/jobs/`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for other schemes, unknown parameters and files that cannot be read
 */
export function fromUrl(url: string): Backend {
  const { files, ...options } = optionsOf(parseBackendUrl(url));
  return etcdOver(driverOf, options, files);
}

/** Converts the URL of a backend to options, and to the PEM files that the URL names. Exported for tests. */
export function optionsOf(url: BackendUrl): EtcdOptions & { readonly files?: PemFiles } {
  const { scheme, hosts, path, username, password = '', params } = url;
  if (scheme !== 'etcd' && scheme !== 'etcds') {
    throw invalidArgument('backend URL', url.display, 'starts with etcd:// or etcds://');
  }
  if (password !== '' && username === undefined)
    throw invalidArgument('backend URL', url.display, 'has a user before the password');
  // Checks only the names of the parameters here. Their values are checked with the other options.
  const parameters: Parameters = Object.fromEntries(params);
  const { ca, cert, key, ...options } = checkedOptions('parameters of an etcd URL', parameters, PARAMETERS);
  if (scheme === 'etcd' && (ca ?? cert ?? key) !== undefined) {
    throw invalidArgument('backend URL', url.display, 'starts with etcds:// when it names certificates');
  }
  const files = { ca, cert, key };
  const hasFiles = Object.keys(checkedPems(pemsIn(files)) ?? {}).length > 0;
  return {
    hosts: (hosts.length > 0 ? hosts : ['127.0.0.1']).map(
      (host) => `${scheme === 'etcds' ? 'https' : 'http'}://${host}`,
    ),
    ...(path === '' ? {} : { prefix: path.endsWith('/') ? path : `${path}/` }),
    ...(username === undefined ? {} : { auth: { username, password } }),
    ...(hasFiles && { files }),
    ...options,
  };
}
