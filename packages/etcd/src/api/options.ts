// Chapter api: what can be set?
// Checked, with its defaults, in one place (here); how the entries of a queue are named (naming).

import {
  boundToCaller,
  checkedOptions,
  invalidArgument,
  type FreshCredentials,
  type KnownOptions,
  type Provided,
} from '@queuelock/core/backend';
import { freshCredentialsOf, type EtcdCredentials, type EtcdPems, type EtcdUser } from './credentials.ts';
import { checkEtcd3Client, type CheckedEtcd3Client, type Etcd3ClientLike } from './etcd3-client.ts';
import { namingsOf, type Naming, type NamingOf, type SingleKeyOf } from './naming.ts';

/** How to reach an etcd cluster (3.4 or later), and where in its key space the locks live. */
export interface EtcdOptions {
  /** `host` or `host:port` each; `https://` in front switches TLS on. Default `127.0.0.1:2379`. */
  readonly hosts?: string | readonly string[];
  /**
   * Put in front of every key as it is: end it in `/` to get a directory of your own. The same for all who share a queue, also where another
   * one with another name would make the same keys. Default: nothing.
   */
  readonly prefix?: string;
  /**
   * The user to log in as, where the cluster has authentication switched on, or a function that returns it or a promise of it. The function is
   * called for each log-in, so passwords may rotate. It has half of `requestTimeoutMs` for its result. If it fails, the last valid result is used,
   * and `errors$` of the lock client emits the failure.
   */
  readonly auth?: Provided<EtcdUser>;
  /**
   * PEM texts for TLS, which they switch on. Without `rootCertificate` the authorities that Node knows are trusted. They are read again for each
   * new connection when they come from files that a URL names, or from a function here, which may return a promise. If a read fails, or a file is
   * half written, the last valid ones are used, and `errors$` of the lock client emits the failure.
   */
  readonly credentials?: Provided<EtcdPems>;
  /** How long one request may take before its outcome counts as unknown, in milliseconds. Default 1,500. */
  readonly requestTimeoutMs?: number;
  /**
   * What has to follow a keepalive before it counts: a linearizable read (`verified`), or a write that changes nothing and leaves no
   * history (`strict`), which costs one round of consensus per beat and session. `auto` is strict unless every member of
   * `hosts`, the leader among them, is known to run a version whose reads are never stale: 3.4.42, 3.5.28, 3.6.9 and later.
   * Default `auto`.
   */
  readonly heartbeatProof?: 'auto' | 'verified' | 'strict';
  /**
   * For a migration, as long as clients without a queue lock the same things by a single key, as npm etcd3's own `Lock`, python-etcd3 and
   * etcd3gw do: that key of a queue, as it is stored (`prefix` is not put in front), or `undefined` for queues that they do not lock.
   * Who owns such a queue has created that key as well, so they exclude each other; such queues take neither readers nor limits
   * above 1, and fairness towards those clients is not promised. Has to answer the same for a queue always, in all processes.
   * Default: none.
   */
  readonly singleKey?: (queue: string) => string | undefined;
  /**
   * How entries are named: those of all queues, or a function that says it for each, the same for ever. `fast` makes entering a long line
   * cost as much as entering a short one, and is for exclusive locks only: readers, limits, permits and a `singleKey` are refused
   * with `INVALID_ARGUMENT`. Clients of either naming, and Go's, stand in one line; only while all in it are fast is it any faster.
   * Default `go`.
   */
  readonly naming?: Naming | ((queue: string) => Naming);
  /**
   * Carries the requests: Node's own HTTP/2 (`http2`), or npm etcd3 with grpc-js (`etcd3`), which has to be installed beside this package and takes
   * more time of this process. Both send the same requests to the cluster. Default `http2`; `etcd3` where `client` is given.
   */
  readonly transport?: 'http2' | 'etcd3';
  /**
   * A client of npm etcd3 1.1 of the application's own, in place of `hosts`, `auth`, `credentials` and `grpcOptions`, which are taken from it once, at
   * this call. Locks run over duplicates of it, without its retries, circuit breakers and `defaultCallOptions`. It is neither used nor closed.
   * Default: none.
   */
  readonly client?: Etcd3ClientLike;
  /**
   * Channel options of `@grpc/grpc-js`, merged over ours, for the transport `etcd3` only. Pings more frequent than every 5 s get the
   * connection cut by etcd.
   */
  readonly grpcOptions?: GrpcChannelOptions;
}

/** Channel options of `@grpc/grpc-js` by their names: `{ 'grpc.enable_http_proxy': 0 }`. */
export type GrpcChannelOptions = Readonly<Record<string, unknown>>;

/** How a heartbeat is proven. */
export type HeartbeatProof = NonNullable<EtcdOptions['heartbeatProof']>;

/** What carries the requests. */
export type Transport = NonNullable<EtcdOptions['transport']>;

/** The same with every default filled in and checked. */
export interface CheckedOptions {
  /** `host:port` each. */
  readonly hosts: readonly string[];
  readonly tls: boolean;
  readonly prefix: string;
  /** Whether calls carry the token of a log-in. */
  readonly logsIn: boolean;
  readonly credentials: FreshCredentials<EtcdCredentials>;
  readonly requestTimeoutMs: number;
  readonly heartbeatProof: HeartbeatProof;
  readonly singleKey: SingleKeyOf | undefined;
  readonly namingOf: NamingOf;
  readonly transport: Transport;
  readonly grpcOptions: GrpcChannelOptions;
  /** Makes the clients of the transport `etcd3`; without it, the package is loaded. */
  readonly Etcd3: CheckedEtcd3Client['Etcd3'] | undefined;
}

const OPTIONS: KnownOptions<EtcdOptions> = {
  hosts: 'any',
  prefix: 'any',
  auth: 'any',
  credentials: 'any',
  requestTimeoutMs: 'number',
  heartbeatProof: 'any',
  singleKey: 'function',
  naming: 'any',
  transport: 'any',
  client: 'object',
  grpcOptions: 'object',
};
/** What a client that is handed in says. */
const OF_CLIENT = ['hosts', 'auth', 'credentials', 'grpcOptions'] as const;
const HEARTBEAT_PROOFS: readonly HeartbeatProof[] = ['auto', 'verified', 'strict'];
const TRANSPORTS: readonly Transport[] = ['http2', 'etcd3'];
const DEFAULT_HOST = '127.0.0.1:2379';
const DEFAULT_PORT = '2379';
const HOST = /^(https?:\/\/)?((?:\[[0-9a-f:.]+\]|[^\s:/[\]@]+))(?::(\d{1,5}))?\/?$/i;

/** Throws `INVALID_ARGUMENT`; no message repeats a password. */
export function checkOptions(options: EtcdOptions | undefined): CheckedOptions {
  const { given, Etcd3 } = withClient(checkedOptions('options of etcd', options, OPTIONS));
  const {
    hosts = DEFAULT_HOST,
    prefix = '',
    auth,
    credentials,
    requestTimeoutMs = 1_500,
    heartbeatProof = 'auto',
    singleKey,
    naming,
  } = given;
  const list: readonly unknown[] = Array.isArray(hosts) ? hosts : [hosts];
  if (list.length === 0) throw invalidArgument('hosts', hosts, 'has at least one host');
  const checked = list.map((host) => checkHost(host));
  const tls = credentials !== undefined || checked.some(({ secure }) => secure);
  if (tls && checked.some(({ plain }) => plain))
    throw invalidArgument('hosts', hosts, 'is all https:// or all http://');
  if (typeof prefix !== 'string' || Buffer.from(prefix).toString() !== prefix) {
    throw invalidArgument('prefix', prefix, 'is well-formed Unicode, without lone surrogates');
  }
  if (!(requestTimeoutMs >= 1 && requestTimeoutMs <= 2 ** 31 - 1)) {
    throw invalidArgument(
      'requestTimeoutMs',
      requestTimeoutMs,
      'is a number of milliseconds from 1 to 2147483647',
    );
  }
  if (!HEARTBEAT_PROOFS.includes(heartbeatProof))
    throw invalidArgument('heartbeatProof', heartbeatProof, `is one of ${HEARTBEAT_PROOFS.join(', ')}`);
  return {
    hosts: checked.map(({ host }) => host),
    tls,
    prefix,
    logsIn: auth !== undefined,
    credentials: freshCredentialsOf(given, requestTimeoutMs / 2),
    requestTimeoutMs,
    heartbeatProof,
    singleKey: singleKey && boundToCaller(singleKey),
    namingOf: namingsOf(naming),
    ...checkTransport(given, Etcd3),
  };
}

/** The options with what a client that was handed in says. */
function withClient(given: EtcdOptions): {
  readonly given: EtcdOptions;
  readonly Etcd3: CheckedOptions['Etcd3'];
} {
  const { client, transport = 'etcd3' } = given;
  if (client === undefined) return { given, Etcd3: undefined };
  for (const name of OF_CLIENT)
    if (given[name] !== undefined)
      throw invalidArgument(`${name} beside client`, name, 'is left out: the client has its own');
  if (transport !== 'etcd3')
    throw invalidArgument('transport beside client', transport, 'is etcd3, or left out');
  const { Etcd3, options } = checkEtcd3Client(client);
  return { given: { ...given, ...options, transport }, Etcd3 };
}

function checkHost(host: unknown): { host: string; secure: boolean; plain: boolean } {
  const [, protocol, name, port = DEFAULT_PORT] = (typeof host === 'string' && HOST.exec(host)) || [];
  if (name === undefined || Number(port) < 1 || Number(port) > 65_535) {
    const shown = typeof host === 'string' ? host.slice(host.lastIndexOf('@') + 1) : host;
    throw invalidArgument('hosts', shown, 'are written host:port, with a port from 1 to 65535');
  }
  const scheme = protocol?.toLowerCase();
  return { host: `${name}:${port}`, secure: scheme === 'https://', plain: scheme === 'http://' };
}

function checkTransport(
  { transport = 'http2', grpcOptions }: EtcdOptions,
  Etcd3: CheckedOptions['Etcd3'],
): Pick<CheckedOptions, 'transport' | 'grpcOptions' | 'Etcd3'> {
  if (!TRANSPORTS.includes(transport))
    throw invalidArgument('transport', transport, `is one of ${TRANSPORTS.join(', ')}`);
  if (transport !== 'etcd3' && grpcOptions !== undefined)
    throw invalidArgument('grpcOptions', grpcOptions, "are for transport: 'etcd3' only");
  return { transport, grpcOptions: grpcOptions ?? {}, Etcd3 };
}
