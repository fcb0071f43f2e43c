// Folder "api": declares and checks the options of the backend.
// options.ts (this file) checks options and sets their defaults. url.ts parses a URL. single-key.ts checks the keys of the option
// `singleKey`.

import { createSecureContext } from 'node:tls';
import {
  checkedOptions,
  invalidArgument,
  optionOfQueue,
  secureContextOf,
  type KnownOptions,
} from '@queuelock/core/backend';
import type { Address, TlsOptions } from '../driver/http.ts';
import type { SingleKeyOf } from './single-key.ts';

/** Options of `consul()`: how to reach a Consul cluster, and where the locks are in its key/value store. */
export interface ConsulOptions {
  /**
   * Addresses of Consul's HTTP API, each as `host` or `host:port`: usually the agent of this machine, or several servers. All must belong to one
   * cluster. The client uses one address at a time, and switches to the next when that one does not respond. Default `127.0.0.1:8500`.
   */
  readonly hosts?: string | readonly string[];
  /** Certificates and key as PEM texts; `{}` is TLS with the certificate authorities of Node. Default: no TLS. */
  readonly tls?: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
  };
  /** The ACL token. It needs `session:write` on the node of the sessions and `key:write` on the prefix. Default: none. */
  readonly token?: string;
  /** Prefix of all keys: letters, digits and `_ . - /`. Clients with different prefixes do not share queues. Default `queuelock/`. */
  readonly prefix?: string;
  /** The data center whose key/value store is used. Default: that of the agent. */
  readonly datacenter?: string;
  /** The namespace of the keys. Servers without namespaces refuse it with `INVALID_ARGUMENT`. Default: that of the token. */
  readonly namespace?: string;
  /** The admin partition. Servers that do not know partitions ignore it. Default: that of the agent. */
  readonly partition?: string;
  /**
   * Name of the node in Consul's catalog to which the sessions belong. Consul ends the sessions of a node that is removed from the catalog. An
   * agent's own node is removed when that agent leaves the cluster. Default: the node of the agent that receives the request.
   */
  readonly node?: string;
  /** Timeout of one request in milliseconds, including the time to connect. After a timeout the outcome of the request is unknown. Default 2,000. */
  readonly requestTimeoutMs?: number;
  /** The setting `session_ttl_min` of the servers, in milliseconds: the shortest TTL that they accept. Default 10,000, as in Consul. */
  readonly minTtlMs?: number;
  /**
   * Maximum number of connections that wait for changes of keys (blocking queries) at the same time. A waiter needs two, a holder one. If more are
   * needed, the client notices changes up to some seconds later. Other requests take up to 18 further connections. An agent accepts 200 connections
   * from one address (`http_max_conns_per_client`), which all processes at that address share. Default 50.
   */
  readonly maxQueries?: number;
  /**
   * For a migration from locks without a queue: those of the command `consul lock` and of `Lock` in Consul's Go client. Returns the key that such
   * clients lock for a queue, as it is stored (`service/jobs/.lock` for `consul lock service/jobs`). Returns `undefined` for a queue that they do not
   * lock. A holder of such a queue holds that key too, so both kinds of clients exclude each other. Fairness between them is not promised. Such a
   * queue accepts no shared locks, no limit above 1, and no acquisition together with other queues. For the same queue, the function must return the
   * same key in all processes at all times. Default: none.
   */
  readonly singleKey?: (queue: string) => string | undefined;
}

/** Options that `settingsOf` has checked and completed with defaults. */
export interface Settings {
  readonly addresses: readonly Address[];
  /** The addresses of the agents as one text, for messages. */
  readonly endpoint: string;
  readonly tls: TlsOptions | undefined;
  readonly token: string | undefined;
  readonly prefix: string;
  /** Query parameters that every request has. */
  readonly params: Readonly<Record<string, string>>;
  readonly node: string | undefined;
  readonly requestTimeoutMs: number;
  readonly minTtlMs: number;
  readonly maxQueries: number;
  readonly singleKey: SingleKeyOf | undefined;
}

const OPTIONS: KnownOptions<ConsulOptions> = {
  hosts: 'any',
  tls: 'object',
  token: 'any',
  prefix: 'any',
  datacenter: 'string',
  namespace: 'string',
  partition: 'string',
  node: 'string',
  requestTimeoutMs: 'any',
  minTtlMs: 'any',
  maxQueries: 'any',
  singleKey: 'function',
};
const TLS_OPTIONS: KnownOptions<NonNullable<ConsulOptions['tls']>> = { ca: 'any', cert: 'any', key: 'any' };
const DEFAULT_HOST = '127.0.0.1:8500';
const HOST = /^(\[[0-9a-f:.]+\]|[^\s:/[\]@,]+)(?::(\d{1,5}))?$/i;
const PREFIX = /^(?:[\w-][\w.-]*\/)*(?:[\w-][\w.-]*)?$/;
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Checks the options and fills in their defaults. No error message contains the token.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 */
export function settingsOf(options: ConsulOptions): Settings {
  const {
    hosts = DEFAULT_HOST,
    tls,
    token,
    ...given
  } = checkedOptions('options of consul', options, OPTIONS);
  const { requestTimeoutMs = 2_000, minTtlMs = 10_000, maxQueries = 50 } = given;
  const list: readonly unknown[] = Array.isArray(hosts) ? hosts : [hosts];
  if (list.length === 0) throw invalidArgument('hosts', hosts, 'has at least one host');
  const addresses = list.map(addressOf);
  const scheme = tls === undefined ? 'consul' : 'consuls';
  return {
    addresses,
    endpoint: `${scheme}://${addresses.map(({ hostname, port }) => `${bracketed(hostname)}:${port}`).join(',')}`,
    tls: tls && checkedTls(tls),
    token: checkedToken(token),
    prefix: checkedPrefix(given.prefix ?? 'queuelock/'),
    params: paramsOf(given),
    node: given.node,
    requestTimeoutMs: checkedNumber('requestTimeoutMs', requestTimeoutMs),
    minTtlMs: checkedNumber('minTtlMs', minTtlMs),
    maxQueries: checkedNumber('maxQueries', maxQueries),
    singleKey: given.singleKey && optionOfQueue('singleKey', given.singleKey),
  };
}

function addressOf(host: unknown): Address {
  const [, name, port = '8500'] = (typeof host === 'string' && HOST.exec(host)) || [];
  if (name === undefined || Number(port) < 1 || Number(port) > 65_535) {
    const shown = typeof host === 'string' ? host.slice(host.lastIndexOf('@') + 1) : host;
    throw invalidArgument('hosts', shown, 'are written host:port, with a port from 1 to 65535');
  }
  return { hostname: name.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function bracketed(hostname: string): string {
  return hostname.includes(':') ? `[${hostname}]` : hostname;
}

function checkedToken(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  // The token is a secret, so the error message does not contain it.
  if (typeof token !== 'string' || !/^[\x21-\x7E]+$/.test(token))
    throw invalidArgument('token', '(not shown)', 'is printable ASCII text without blanks');
  return token;
}

function checkedPrefix(prefix: unknown): string {
  if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
    const rule = 'is letters, digits and _ . - with a / between its parts, and no part begins with a dot';
    throw invalidArgument('prefix', prefix, rule);
  }
  return prefix;
}

function paramsOf(
  options: Pick<ConsulOptions, 'datacenter' | 'namespace' | 'partition'>,
): Record<string, string> {
  const { datacenter, namespace, partition } = options;
  return {
    ...(datacenter !== undefined && { dc: datacenter }),
    ...(namespace !== undefined && { ns: namespace }),
    ...(partition !== undefined && { partition }),
  };
}

function checkedNumber(name: string, value: unknown): number {
  if (typeof value === 'number' && value >= 1 && value <= LONGEST_MS) return value;
  throw invalidArgument(name, value, `is a number from 1 to ${LONGEST_MS}`);
}

function checkedTls(tls: NonNullable<ConsulOptions['tls']>): TlsOptions {
  const given = checkedOptions('tls', tls, TLS_OPTIONS);
  secureContextOf(given, createSecureContext);
  return given;
}
