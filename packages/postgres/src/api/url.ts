import {
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  readPems,
  type KnownOptions,
  type PemContents,
  type PemFiles,
} from '@queuelock/core/backend';

const RULE = 'is written postgres://user:password@host:port/database or postgresql://…, with one host';

interface Parameters extends PemFiles {
  readonly schema?: string;
  readonly sslmode?: string;
}

const PARAMETERS: KnownOptions<Parameters> = {
  schema: 'string',
  sslmode: 'string',
  ca: 'string',
  cert: 'string',
  key: 'string',
};

/** What a URL says. What it does not say is left to the client library: `PGHOST`, `PGUSER`, `PGPASSWORD`, `~/.pgpass` and so on. */
export interface Server {
  /** Without any secret. */
  readonly endpoint: string;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly schema: string | undefined;
  readonly sslmode: string | undefined;
  readonly tls: PemContents;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT`; the message never repeats user or password. */
export function serverOf(url: string): Server {
  const { scheme, hosts, path, params, display, username, password } = parseBackendUrl(url);
  if (!['postgres', 'postgresql'].includes(scheme) || hosts.length > 1 || path.includes('/'))
    throw invalidArgument('backend URL', display, RULE);
  const [, name, port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(hosts[0] ?? '') ?? [];
  const parameters: Parameters = Object.fromEntries(params);
  const { schema, sslmode, ...files } = checkedOptions(
    'parameters of a postgres: URL',
    parameters,
    PARAMETERS,
  );
  return {
    endpoint: `postgres://${hosts[0] ?? ''}${path === '' ? '' : `/${path}`}`,
    host: name?.replace(/^\[|\]$/g, '') || undefined,
    port: port === undefined ? undefined : Number(port),
    user: username,
    password,
    database: path || undefined,
    schema,
    sslmode,
    tls: readPems(files),
  };
}
