// Folder "api": declares and checks the options of the backend.
// options.ts (this file) checks options and sets their defaults. tls.ts contains the options of TLS.

import {
  checkedObject,
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  readPems,
  type BackendUrl,
  type KnownOptions,
  type PemFiles,
  type FreshCredentials,
  type Provided,
} from '@queuelock/core/backend';
import { REFUSED_BY_SERVER } from '../queue/names.ts';
import { schemeOf, schemesOf, type Naming, type Scheme } from '../queue/naming.ts';
import { freshTlsOf, tlsOf, type Tls, type ZooKeeperTls } from './tls.ts';

/** Options of the ZooKeeper backend. */
export interface ZooKeeperOptions {
  /** The servers, each as `host` or `host:port`, with IPv6 addresses in brackets. The default port is 2181. At least one is required. */
  readonly hosts: readonly string[];
  /** The path below which all queues are stored, for instance `/locks`. It is created if it is missing. Default: the root. */
  readonly chroot?: string;
  /**
   * Credentials of the digest scheme. They are sent unencrypted unless TLS is used. They cannot be a function that later returns another
   * password: nodes belong to the user and password that created them, so a client with another password is not their owner. Default: none.
   */
  readonly auth?: { readonly username: string; readonly password: string };
  /**
   * The `tickTime` of the servers in milliseconds. Default 2000, as in ZooKeeper. Sessions shorter than `syncLimit` + 2 ticks, or shorter
   * than four ticks, are refused, because a client cannot prove how long such a session lives. By default the minimum is 14 s.
   */
  readonly tickTimeMs?: number;
  /** The `syncLimit` of the servers in ticks. Default 5, as in ZooKeeper. A single server has no followers, so set 2 for it. */
  readonly syncLimit?: number;
  /** The timeout of one connection attempt in milliseconds. Default 4000. */
  readonly connectTimeoutMs?: number;
  /**
   * The naming scheme of entries, for all queues, or a function that returns it for each queue and always returns the same. All clients of
   * a queue must use the same scheme. A client that finds another scheme in a queue is refused with `FOREIGN_FORMAT`. Default `curator`.
   */
  readonly naming?: Naming | ((queue: string) => Naming);
  /**
   * The client library: `wire` uses Node's own sockets and works in worker threads. `native` uses the npm package `zookeeper`, a compiled
   * addon that works only in the main thread. Default `wire`.
   */
  readonly transport?: 'native' | 'wire';
  /**
   * TLS to the servers, with `transport: 'wire'`. `{}` is enough for most servers. A function, which may return a promise, is called again for each
   * new connection. Certificate files that a URL names are read again, too. If the function or a read fails, the last valid certificates are used,
   * and `errors$` of the lock client emits the failure. Default: no TLS.
   */
  readonly tls?: Provided<ZooKeeperTls>;
}

type TransportName = NonNullable<ZooKeeperOptions['transport']>;

/** The checked options with defaults filled in. */
export interface Settings {
  readonly hosts: readonly Host[];
  /** The chroot: `''`, or a path without a trailing slash. */
  readonly root: string;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
  readonly tickTimeMs: number;
  readonly syncLimit: number;
  readonly connectTimeoutMs: number;
  /**
   * Returns the naming scheme of a queue.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when the function in `naming` returns an unknown scheme
   */
  readonly schemeFor: (queue: string) => Scheme;
  readonly transport: TransportName;
  readonly tls: FreshCredentials<Tls> | undefined;
  /** The URL of the servers without credentials, for error messages. */
  readonly endpoint: string;
}

/** The name or address of a server, without brackets. */
export interface Host {
  readonly name: string;
  readonly port: number;
}

const OPTIONS: KnownOptions<ZooKeeperOptions> = {
  hosts: 'any',
  chroot: 'any',
  auth: 'object',
  tickTimeMs: 'number',
  syncLimit: 'number',
  connectTimeoutMs: 'number',
  naming: 'any',
  transport: 'any',
  tls: 'any',
};
const AUTH_OPTIONS: KnownOptions<NonNullable<ZooKeeperOptions['auth']>> = {
  username: 'any',
  password: 'any',
};
const NUMBERS = ['tickTimeMs', 'syncLimit', 'connectTimeoutMs'] as const;

/** The parameters of a backend URL, as strings. */
type Parameters = PemFiles &
  Readonly<Partial<Record<(typeof NUMBERS)[number] | 'naming' | 'transport', string>>>;

const PARAMETERS: KnownOptions<Parameters> = {
  tickTimeMs: 'string',
  syncLimit: 'string',
  connectTimeoutMs: 'string',
  naming: 'string',
  transport: 'string',
  ca: 'string',
  cert: 'string',
  key: 'string',
};
const NAMES_TLS = /^(tls|ssl|secure)/i;
const TRANSPORTS: ReadonlySet<string> = new Set(['native', 'wire'] satisfies TransportName[]);
const NO_TLS =
  'needs transport wire: the npm package zookeeper does not support TLS; omit the transport, or use zk:// on a trusted network';
const TLS_BY_SCHEME =
  'is not a parameter of a URL: use zks:// instead of zk:// for TLS, with ?ca=file&cert=file&key=file';

/**
 * Checks the options and fills in defaults.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 */
export function settingsOf(options: ZooKeeperOptions): Settings {
  const transport = transportOf(checkedObject('options of zookeeper', options).transport);
  for (const name of Object.keys(options))
    if (transport === 'native' && NAMES_TLS.test(name)) throw invalidArgument(name, name, NO_TLS);
  checkedOptions('options of zookeeper', options, OPTIONS);
  const hosts = hostsOf(options.hosts);
  const root = rootOf(options.chroot);
  const connectTimeoutMs = whole('connectTimeoutMs', options.connectTimeoutMs ?? 4_000);
  return {
    hosts,
    root,
    auth: authOf(options.auth),
    tickTimeMs: whole('tickTimeMs', options.tickTimeMs ?? 2_000),
    syncLimit: whole('syncLimit', options.syncLimit ?? 5),
    connectTimeoutMs,
    schemeFor: schemesOf(options.naming),
    transport,
    tls: options.tls && freshTlsOf(options.tls, connectTimeoutMs / 2),
    endpoint: `${options.tls ? 'zks' : 'zk'}://${hosts.map(({ name, port }) => `${name.includes(':') ? `[${name}]` : name}:${port}`).join(',')}${root}`,
  };
}

/**
 * Converts a URL to options.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL is invalid. The message never contains user or password.
 */
export function optionsOfUrl(url: string): ZooKeeperOptions {
  const { scheme, username, password, hosts, path, params } = parseBackendUrl(url);
  const transport = transportOf(params.get('transport') as TransportName | undefined);
  if (scheme === 'zks' && transport === 'native') throw invalidArgument('backend URL', 'zks://', NO_TLS);
  if (scheme !== 'zk' && scheme !== 'zks')
    throw invalidArgument('backend URL', `${scheme}:`, 'has the scheme zk or zks');
  if ((username === undefined) !== (password === undefined)) {
    throw invalidArgument('backend URL', 'zk://…@', 'has both a user and a password, or neither');
  }
  for (const name of params.keys())
    if (NAMES_TLS.test(name))
      throw invalidArgument('backend URL', name, transport === 'native' ? NO_TLS : TLS_BY_SCHEME);
  const parameters: Parameters = Object.fromEntries(params);
  const { ca, cert, key } = checkedOptions('parameters of a zk: URL', parameters, PARAMETERS);
  if (scheme === 'zk' && (ca ?? cert ?? key) !== undefined)
    throw invalidArgument('backend URL', 'zk://', 'starts with zks:// when it names certificates');
  return {
    hosts,
    ...(path === '' ? {} : { chroot: `/${path}` }),
    ...(username !== undefined && password !== undefined ? { auth: { username, password } } : {}),
    ...namingOf(params),
    ...(params.has('transport') ? { transport } : {}),
    ...(scheme === 'zks' ? { tls: pemsOf({ ca, cert, key }) } : {}),
    ...numbersOf(params),
  };
}

/** Returns a function that reads certificates and key from their files for each connection. Checks first that the files can be read. */
function pemsOf(files: PemFiles): Provided<ZooKeeperTls> {
  const pems = readPems(files);
  tlsOf(pems);
  return Object.keys(pems).length === 0 ? pems : () => readPems(files);
}

function numbersOf(params: BackendUrl['params']): Partial<Record<(typeof NUMBERS)[number], number>> {
  const numbers: Partial<Record<(typeof NUMBERS)[number], number>> = {};
  for (const name of NUMBERS) {
    const value = params.get(name);
    if (value !== undefined) numbers[name] = /^\d+$/.test(value) ? Number(value) : whole(name, value);
  }
  return numbers;
}

/** Reads the parameter `naming` of a URL. URL parsing turns a plus sign into a space, so a space is turned back. */
function namingOf(params: BackendUrl['params']): Pick<ZooKeeperOptions, 'naming'> {
  const naming = params.get('naming')?.replaceAll(' ', '+');
  return naming === undefined ? {} : { naming: schemeOf(naming as Naming).naming };
}

function transportOf(driver: TransportName = 'wire'): TransportName {
  if (TRANSPORTS.has(driver)) return driver;
  throw invalidArgument('transport', driver, `is one of ${[...TRANSPORTS].join(', ')}`);
}

function hostsOf(hosts: readonly string[]): Host[] {
  if (!Array.isArray(hosts) || hosts.length === 0) {
    throw invalidArgument('hosts', hosts, 'is a list of at least one host:port');
  }
  return hosts.map((host: unknown) => {
    const [, bracketed, plain, port = '2181'] =
      /^(?:\[([0-9a-f:.]+)\]|([^\s:,/[\]@]+))(?::(\d{1,5}))?$/i.exec(String(host)) ?? [];
    const name = bracketed ?? plain;
    if (name === undefined || Number(port) < 1 || Number(port) > 65_535) {
      throw invalidArgument('hosts', host, 'has entries written host:port, with a port from 1 to 65535');
    }
    return { name, port: Number(port) };
  });
}

function rootOf(chroot: string | undefined): string {
  if (chroot === undefined || chroot === '/') return '';
  const isPath = typeof chroot === 'string' && /^(\/[^/]+)+$/.test(chroot);
  if (!isPath || /\/\.\.?(\/|$)/.test(chroot) || chroot.search(REFUSED_BY_SERVER) >= 0) {
    throw invalidArgument('chroot', chroot, 'is a path such as /locks that ZooKeeper accepts');
  }
  return chroot;
}

function authOf(auth: ZooKeeperOptions['auth']): Settings['auth'] {
  if (auth === undefined) return undefined;
  const { username, password } = checkedOptions('auth', auth, AUTH_OPTIONS);
  if (typeof username !== 'string' || username === '' || username.includes(':')) {
    throw invalidArgument('auth.username', typeof username, 'is a string that is not empty and has no colon');
  }
  if (typeof password !== 'string' || password === '') {
    throw invalidArgument('auth.password', typeof password, 'is a string that is not empty');
  }
  return { username, password };
}

function whole(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value < 2 ** 31) return value;
  throw invalidArgument(name, value, 'is a whole number from 1 to 2147483647');
}
