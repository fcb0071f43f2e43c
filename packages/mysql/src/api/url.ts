import {
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  type KnownOptions,
  type Login,
  type PemFiles,
} from '@queuelock/core/backend';

const DEFAULT_PORT = '3306';
const RULE = 'is written mysql://user:password@host:port/database, with one host and the name of a database';

type Parameters = PemFiles & { readonly tls?: string | undefined; readonly driver?: string | undefined };

const PARAMETERS: KnownOptions<Parameters> = {
  tls: 'string',
  driver: 'string',
  ca: 'string',
  cert: 'string',
  key: 'string',
};

/** The server, database and credentials that a backend URL names. */
export interface Server {
  /** The URL without user and password, for error messages. */
  readonly endpoint: string;
  readonly host: string;
  readonly port: number;
  readonly login: Login;
  readonly database: string;
  readonly secure: boolean;
  readonly driver: string | undefined;
  /** The PEM files that the URL names. */
  readonly files: PemFiles;
}

/**
 * Parses a backend URL. No error message contains the user or the password.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL or one of its parameters is invalid
 */
export function serverOf(url: string): Server {
  const { scheme, hosts, path, params, display, username, password } = parseBackendUrl(url);
  if (!['mysql', 'mariadb'].includes(scheme) || hosts.length > 1 || !/^[^/]+$/.test(path))
    throw invalidArgument('backend URL', display, RULE);
  const [, name = '', port = DEFAULT_PORT] =
    /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(hosts[0] ?? '127.0.0.1') ?? [];
  const parameters: Parameters = Object.fromEntries(params);
  const { tls, driver, ...files } = checkedOptions('parameters of a mysql: URL', parameters, PARAMETERS);
  if (tls !== undefined && !['true', 'false'].includes(tls))
    throw invalidArgument('backend URL parameter tls', tls, 'is true or false');
  const hasFiles = Object.keys(files).length > 0;
  if (tls === 'false' && hasFiles)
    throw invalidArgument('backend URL parameter tls', tls, 'is true when there are certificates');
  return {
    endpoint: `${scheme}://${name}:${port}/${path}`,
    host: name.replace(/^\[|\]$/g, ''),
    port: Number(port),
    login: { username, password },
    database: path,
    secure: tls === 'true' || hasFiles,
    driver,
    files,
  };
}
