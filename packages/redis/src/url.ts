import { readFileSync } from 'node:fs';
import { checkedOptions, invalidArgument, parseBackendUrl, type KnownOptions } from '@queuelock/core/backend';

const FILES = ['ca', 'cert', 'key'] as const;
const DEFAULT_PORT = '6379';
const RULE =
  'is written redis://user:password@host:port/database or rediss://…, with one host and a number for the database';

type Parameters = Readonly<Partial<Record<(typeof FILES)[number] | 'prefix', string | undefined>>>;

const PARAMETERS: KnownOptions<Parameters> = {
  prefix: 'string',
  ca: 'string',
  cert: 'string',
  key: 'string',
};

/** What a URL says. */
export interface Server {
  /** Without any secret. */
  readonly endpoint: string;
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly prefix: string | undefined;
  readonly tls: Readonly<Partial<Record<(typeof FILES)[number], Buffer>>>;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT`; the message never repeats user or password. */
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
    username,
    password,
    database,
    prefix,
    tls: readFiles(files),
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
