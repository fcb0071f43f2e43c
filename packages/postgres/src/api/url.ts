import {
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  type KnownOptions,
  type Login,
  type PemFiles,
} from '@queuelock/core/backend';

const RULE = 'is written postgres://user:password@host:port/database or postgresql://…, with one host';

interface Parameters extends PemFiles {
  readonly schema?: string;
  readonly sslmode?: string;
  readonly driver?: string;
}

const PARAMETERS: KnownOptions<Parameters> = {
  schema: 'string',
  sslmode: 'string',
  driver: 'string',
  ca: 'string',
  cert: 'string',
  key: 'string',
};

/** The parts of a backend URL. npm pg replaces absent parts by its own defaults: `PGHOST`, `PGUSER`, `PGPASSWORD`, `~/.pgpass` and so on. */
export interface Server {
  /** The URL without user and password, for error messages. */
  readonly endpoint: string;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly login: Login;
  readonly database: string | undefined;
  readonly schema: string | undefined;
  readonly sslmode: string | undefined;
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
  if (!['postgres', 'postgresql'].includes(scheme) || hosts.length > 1 || path.includes('/'))
    throw invalidArgument('backend URL', display, RULE);
  const [, name, port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(hosts[0] ?? '') ?? [];
  const parameters: Parameters = Object.fromEntries(params);
  const { schema, sslmode, driver, ...files } = checkedOptions(
    'parameters of a postgres: URL',
    parameters,
    PARAMETERS,
  );
  return {
    endpoint: `postgres://${hosts[0] ?? ''}${path === '' ? '' : `/${path}`}`,
    host: name?.replace(/^\[|\]$/g, '') || undefined,
    port: port === undefined ? undefined : Number(port),
    login: { username, password },
    database: path || undefined,
    schema,
    sslmode,
    driver,
    files,
  };
}
