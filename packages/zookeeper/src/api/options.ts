// Chapter api: what can be set?
// Checked, with its defaults, in one place (here); with what TLS is done (tls).

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
import { DEFAULT_NAMING, schemeOf, type Naming, type Scheme } from '../queue/naming.ts';
import { freshTlsOf, tlsOf, type Tls, type ZooKeeperTls } from './tls.ts';

/** Where ZooKeeper is and how it is set up. */
export interface ZooKeeperOptions {
  /** `host` or `host:port` each, IPv6 addresses in brackets; the port is 2181 unless said. At least one. */
  readonly hosts: readonly string[];
  /** All queues live below this path, for instance `/locks`; made if it is missing. Default: the root. */
  readonly chroot?: string;
  /**
   * Credentials of the digest scheme; they travel in the clear. They cannot be a function: nodes belong to the user and password that made them,
   * so another password is another owner. Default: none.
   */
  readonly auth?: { readonly username: string; readonly password: string };
  /**
   * The servers' `tickTime` in milliseconds. Default 2000, as theirs. Sessions of less than `syncLimit` + 2 ticks, and of less than
   * four, are refused, since no client can tell how long such a one lives: the default settings take 14 s.
   */
  readonly tickTimeMs?: number;
  /** The servers' `syncLimit` in ticks. Default 5, as theirs. A single server has no followers: 2 is right there. */
  readonly syncLimit?: number;
  /** How long one attempt to connect may take, in milliseconds. Default 4000. */
  readonly connectTimeoutMs?: number;
  /**
   * Whose names the entries have: of all queues, or a function that says it for each, the same for ever. It belongs to the queue:
   * all clients of one name have to agree, and whoever meets another naming is refused with `FOREIGN_FORMAT`. Default `curator`.
   */
  readonly naming?: Naming | ((queue: string) => Naming);
  /**
   * Who speaks to the servers: `wire`, Node's own sockets, in worker threads too; or `native`, the npm package `zookeeper`, a compiled
   * addon for the main thread. Default `wire`.
   */
  readonly transport?: 'native' | 'wire';
  /**
   * TLS to the servers, with `transport: 'wire'`; `{}` is what most need. With a function, which may return a promise, certificates are read again
   * for each new connection, as they are from the files of a URL. If that fails, the last valid ones are used, and `errors$` of the lock client
   * emits the failure. Default: none.
   */
  readonly tls?: Provided<ZooKeeperTls>;
}

/** Who speaks to the servers. */
type TransportName = NonNullable<ZooKeeperOptions['transport']>;

/** The options, checked, with the defaults filled in. */
export interface Settings {
  readonly hosts: readonly Host[];
  /** `''` or a path without a slash at its end. */
  readonly root: string;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
  readonly tickTimeMs: number;
  readonly syncLimit: number;
  readonly connectTimeoutMs: number;
  /** @throws {QueueLockError} `INVALID_ARGUMENT` */
  readonly schemeFor: (queue: string) => Scheme;
  readonly transport: TransportName;
  readonly tls: FreshCredentials<Tls> | undefined;
  /** For messages: without credentials. */
  readonly endpoint: string;
}

/** A server's name or address, without brackets. */
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

/** As texts. */
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
const SAYS_TLS = /^(tls|ssl|secure)/i;
const TRANSPORTS: ReadonlySet<string> = new Set(['native', 'wire'] satisfies TransportName[]);
const NO_TLS =
  'cannot be had with transport native: the npm package zookeeper does not do TLS; leave the transport out, or use zk:// on a network you trust';
const TLS_BY_SCHEME =
  'is no parameter of a URL: zks:// in place of zk:// asks for TLS, and ?ca=file&cert=file&key=file says with what';

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function settingsOf(options: ZooKeeperOptions): Settings {
  const transport = transportOf(checkedObject('options of zookeeper', options).transport);
  for (const name of Object.keys(options))
    if (transport === 'native' && SAYS_TLS.test(name)) throw invalidArgument(name, name, NO_TLS);
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

/** @throws {QueueLockError} `INVALID_ARGUMENT`; the message never repeats user or password. */
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
    if (SAYS_TLS.test(name))
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

/** A function that reads the files for each connection, once they have been found right. */
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

/** A plus in a URL is read as a blank. */
function namingOf(params: BackendUrl['params']): Pick<ZooKeeperOptions, 'naming'> {
  const naming = params.get('naming')?.replaceAll(' ', '+');
  return naming === undefined ? {} : { naming: schemeOf(naming as Naming).naming };
}

function schemesOf(naming: ZooKeeperOptions['naming'] = DEFAULT_NAMING): Settings['schemeFor'] {
  if (typeof naming === 'function') return (queue) => schemeOf(naming(queue), `(${JSON.stringify(queue)})`);
  const scheme = schemeOf(naming);
  return () => scheme;
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
