// Folder "api": declares and checks the options of the backend.
// options.ts (this file) checks options and sets their defaults. credentials.ts reads credentials. etcd3-client.ts checks clients that the
// caller passes. naming.ts selects the format of keys. info.ts describes the backend.

import {
  checkedOptions,
  invalidArgument,
  optionOfQueue,
  type FreshCredentials,
  type KnownOptions,
  type Provided,
} from '@queuelock/core/backend';
import { freshCredentialsOf, type EtcdCredentials, type EtcdPems, type EtcdUser } from './credentials.ts';
import { checkEtcd3Client, type CheckedEtcd3Client, type Etcd3ClientLike } from './etcd3-client.ts';
import { namingsOf, type Naming, type NamingOf, type SingleKeyOf } from './naming.ts';

/** Options of the etcd backend (etcd 3.4 or later): how to reach the cluster, and where the keys of the locks are. */
export interface EtcdOptions {
  /** Each member as `host` or `host:port`. A leading `https://` enables TLS. Default `127.0.0.1:2379`. */
  readonly hosts?: string | readonly string[];
  /**
   * Text in front of every key, unchanged. It separates the locks of several applications; end it with `/` to get a directory. All clients
   * that share a queue must have the same prefix, even if another prefix and another name would result in the same keys. Default: empty.
   */
  readonly prefix?: string;
  /**
   * The user to log in as, for a cluster with authentication enabled. It may be a function that returns the user or a promise of it. The
   * function is called for each log-in, so passwords may rotate. It has half of `requestTimeoutMs` for its result. If it fails, the last valid
   * result is used, and `errors$` of the lock client emits the failure.
   */
  readonly auth?: Provided<EtcdUser>;
  /**
   * PEM texts for TLS. Setting this option enables TLS. Without `rootCertificate` the certificate authorities of Node are trusted. The texts are read
   * again for each new connection if they come from files that a URL names, or from a function here, which may return a promise. If a read fails, or
   * a file is incomplete, the last valid texts are used, and `errors$` of the lock client emits the failure.
   */
  readonly credentials?: Provided<EtcdPems>;
  /**
   * Timeout of one request, in milliseconds. After it the outcome counts as unknown. Over `http2` and `socket`, requests share one timer, so a request may time
   * out up to an eighth later. While the event loop is blocked, the timeout hardly advances. Default 1,500.
   */
  readonly requestTimeoutMs?: number;
  /**
   * What must follow the keepalive of the lease before a heartbeat counts as confirmed. `verified` is a linearizable read. `strict` is a write that
   * changes nothing and leaves no history, which costs one round of consensus for each heartbeat of a session. `auto` is `strict` unless every member
   * of `hosts`, the leader among them, is known to run a version whose reads are never stale: 3.4.42, 3.5.28, 3.6.9 and later. Default `auto`.
   */
  readonly heartbeatProof?: 'auto' | 'verified' | 'strict';
  /**
   * For migrations from clients that lock a single key without a queue, as npm etcd3's own `Lock`, python-etcd3 and etcd3gw do. The function
   * returns that key for a queue as it is stored (`prefix` is not added), or `undefined` for queues that these clients do not lock. The holder
   * of such a queue has created that key as well, so both kinds of clients exclude each other. Such queues accept neither readers nor limits
   * above 1, and fairness towards those clients is not promised. The function must always return the same value for a queue, in all
   * processes. Default: no single keys.
   */
  readonly singleKey?: (queue: string) => string | undefined;
  /**
   * How entries are named: one naming for all queues, or a function that returns the naming of each queue, always the same. With `fast` the
   * cost of entering does not grow with the queue. It is for exclusive locks only: readers, limits, permits and a `singleKey` are rejected with
   * `INVALID_ARGUMENT`. Clients of both namings and Go's clients share one queue. Entering is fast only while all entries are fast ones.
   * Default `go`.
   */
  readonly naming?: Naming | ((queue: string) => Naming);
  /**
   * The library that sends the requests. `socket` is the HTTP/2 of this package over a socket of Node. `http2` is Node's own HTTP/2, which uses more
   * CPU time. `etcd3` is npm etcd3 with grpc-js, which must be installed beside this package and uses the most CPU time. All send the same requests.
   * Default `socket`; `etcd3` if `client` is set.
   */
  readonly transport?: 'socket' | 'http2' | 'etcd3';
  /**
   * A client of npm etcd3 1.1 that the application has. It replaces `hosts`, `auth`, `credentials` and `grpcOptions`, which are read from it
   * once, in this call. Locks use duplicates of it, without its retries, circuit breakers and `defaultCallOptions`. The client itself is
   * neither used nor closed. Default: none.
   */
  readonly client?: Etcd3ClientLike;
  /**
   * Channel options of `@grpc/grpc-js`, merged over the defaults of this package, for the transport `etcd3` only. etcd closes connections
   * that send pings more often than every 5 s.
   */
  readonly grpcOptions?: GrpcChannelOptions;
}

/** Channel options of `@grpc/grpc-js` by their names: `{ 'grpc.enable_http_proxy': 0 }`. */
export type GrpcChannelOptions = Readonly<Record<string, unknown>>;

/** The values of the option `heartbeatProof`. */
export type HeartbeatProof = NonNullable<EtcdOptions['heartbeatProof']>;

/** The values of the option `transport`. */
export type Transport = NonNullable<EtcdOptions['transport']>;

/** The options of the backend after they were checked, with all defaults. */
export interface CheckedOptions {
  /** The address of each member as `host:port`. */
  readonly hosts: readonly string[];
  readonly tls: boolean;
  readonly prefix: string;
  /** Whether requests carry the token of a log-in, because the cluster has authentication enabled. */
  readonly logsIn: boolean;
  readonly credentials: FreshCredentials<EtcdCredentials>;
  readonly requestTimeoutMs: number;
  readonly heartbeatProof: HeartbeatProof;
  readonly singleKey: SingleKeyOf | undefined;
  readonly namingOf: NamingOf;
  readonly transport: Transport;
  readonly grpcOptions: GrpcChannelOptions;
  /** The class that creates the clients of the transport `etcd3`. If it is `undefined`, npm etcd3 is loaded. */
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
/** The options of the backend that cannot be set together with `client`, since the client determines them. */
const OF_CLIENT = ['hosts', 'auth', 'credentials', 'grpcOptions'] as const;
const HEARTBEAT_PROOFS: readonly HeartbeatProof[] = ['auto', 'verified', 'strict'];
const TRANSPORTS: readonly Transport[] = ['socket', 'http2', 'etcd3'];
const DEFAULT_HOST = '127.0.0.1:2379';
const DEFAULT_PORT = '2379';
const HOST = /^(https?:\/\/)?((?:\[[0-9a-f:.]+\]|[^\s:/[\]@]+))(?::(\d{1,5}))?\/?$/i;

/** Checks the options of the backend and adds the defaults. Throws `INVALID_ARGUMENT`; no error message contains a password. */
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
    singleKey: singleKey && optionOfQueue('singleKey', singleKey),
    namingOf: namingsOf(naming),
    ...checkTransport(given, Etcd3),
  };
}

/**
 * Returns the options of the backend. If the application has passed a `client` of its own, adds the hosts, credentials and channel options of that
 * client.
 */
function withClient(given: EtcdOptions): {
  readonly given: EtcdOptions;
  readonly Etcd3: CheckedOptions['Etcd3'];
} {
  const { client, transport = 'etcd3' } = given;
  if (client === undefined) return { given, Etcd3: undefined };
  for (const name of OF_CLIENT)
    if (given[name] !== undefined)
      throw invalidArgument(`${name} beside client`, name, 'is omitted: the client has its own');
  if (transport !== 'etcd3')
    throw invalidArgument('transport beside client', transport, 'is etcd3 or omitted');
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
  { transport = 'socket', grpcOptions }: EtcdOptions,
  Etcd3: CheckedOptions['Etcd3'],
): Pick<CheckedOptions, 'transport' | 'grpcOptions' | 'Etcd3'> {
  if (!TRANSPORTS.includes(transport))
    throw invalidArgument('transport', transport, `is one of ${TRANSPORTS.join(', ')}`);
  if (transport !== 'etcd3' && grpcOptions !== undefined)
    throw invalidArgument('grpcOptions', grpcOptions, "are for transport: 'etcd3' only");
  return { transport, grpcOptions: grpcOptions ?? {}, Etcd3 };
}
