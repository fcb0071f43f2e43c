import {
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  type KnownOptions,
  type Login,
  type PemFiles,
} from '@queuelock/core/backend';

const DEFAULT_PORT = '6379';
const RULE =
  'is written redis://user:password@host:port/database or rediss://…, with one host and a number for the database';

type Parameters = PemFiles & { readonly prefix?: string | undefined };

const PARAMETERS: KnownOptions<Parameters> = {
  prefix: 'string',
  ca: 'string',
  cert: 'string',
  key: 'string',
};

/** The parts of a backend URL. */
export interface Server {
  /** The URL without user and password, for error messages. */
  readonly endpoint: string;
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  readonly login: Login;
  readonly database: number;
  readonly prefix: string | undefined;
  /** The paths of the PEM files (certificates and key) that the URL names. */
  readonly files: PemFiles;
}

/**
 * Parses a backend URL. No error message contains the user or the password.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL or one of its parameters is invalid
 */
export function serverOf(url: string): Server {
  const { scheme, hosts, path, params, display, username, password } = parseBackendUrl(url);
  const database = path === '' ? 0 : Number(/^\d{1,4}$/.exec(path)?.[0] ?? Number.NaN);
  if (!['redis', 'rediss'].includes(scheme) || hosts.length > 1 || Number.isNaN(database))
    throw invalidArgument('backend URL', display, RULE);
  const [, name = '', port = DEFAULT_PORT] =
    /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(hosts[0] ?? '127.0.0.1') ?? [];
  const parameters: Parameters = Object.fromEntries(params);
  const { prefix, ...files } = checkedOptions('parameters of a redis: URL', parameters, PARAMETERS);
  return {
    endpoint: `${scheme}://${name}:${port}${database === 0 ? '' : `/${database}`}`,
    host: name.replace(/^\[|\]$/g, ''),
    port: Number(port),
    secure: scheme === 'rediss',
    login: { username, password },
    database,
    prefix,
    files,
  };
}
