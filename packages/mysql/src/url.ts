import { readFileSync } from 'node:fs';
import { checkedOptions, invalidArgument, parseBackendUrl, type KnownOptions } from '@queuelock/core/backend';

const FILES = ['ca', 'cert', 'key'] as const;
const DEFAULT_PORT = '3306';
const RULE = 'is written mysql://user:password@host:port/database, with one host and the name of a database';

type Parameters = Readonly<Partial<Record<(typeof FILES)[number] | 'tls', string | undefined>>>;

const PARAMETERS: KnownOptions<Parameters> = { tls: 'string', ca: 'string', cert: 'string', key: 'string' };

/** What a URL says. */
export interface Server {
  /** Without any secret. */
  readonly endpoint: string;
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  readonly secure: boolean;
  readonly tls: Readonly<Partial<Record<(typeof FILES)[number], Buffer>>>;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT`; the message never repeats user or password. */
export function serverOf(url: string): Server {
  const { scheme, hosts, path, params, display, username, password } = parseBackendUrl(url);
  if (!['mysql', 'mariadb'].includes(scheme) || hosts.length > 1 || !/^[^/]+$/.test(path))
    throw invalidArgument('backend URL', display, RULE);
  const [, name = '', port = DEFAULT_PORT] =
    /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(hosts[0] ?? '127.0.0.1') ?? [];
  const parameters: Parameters = Object.fromEntries(params);
  const { tls, ...files } = checkedOptions('parameters of a mysql: URL', parameters, PARAMETERS);
  if (tls !== undefined && !['true', 'false'].includes(tls))
    throw invalidArgument('backend URL parameter tls', tls, 'is true or false');
  const read = readFiles(files);
  if (tls === 'false' && Object.keys(read).length > 0)
    throw invalidArgument('backend URL parameter tls', tls, 'is true when there are certificates');
  return {
    endpoint: `${scheme}://${name}:${port}/${path}`,
    host: name.replace(/^\[|\]$/g, ''),
    port: Number(port),
    user: username,
    password,
    database: path,
    secure: tls === 'true' || Object.keys(read).length > 0,
    tls: read,
  };
}

function readFiles(files: Parameters): Server['tls'] {
  if ((files.cert === undefined) !== (files.key === undefined))
    throw invalidArgument('backend URL', Object.keys(files).join(), 'has cert and key together');
  const read: { -readonly [Name in keyof Server['tls']]: Server['tls'][Name] } = {};
  for (const name of FILES) {
    const file = files[name];
    if (file !== undefined) read[name] = readPem(name, file);
  }
  return read;
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const rule = `names a PEM file that can be read (${reason})`;
    throw invalidArgument(`backend URL parameter ${name}`, file, rule);
  }
}
