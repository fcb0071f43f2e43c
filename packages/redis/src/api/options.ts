// Chapter api: what can be set?
// Checks options and sets their defaults (here), parses a URL (url), and checks the keys of the option `singleKey` (single-key).

import { createSecureContext } from 'node:tls';
import { checkedOptions, invalidArgument, secureContextOf, type KnownOptions } from '@queuelock/core/backend';
import type { Driver } from '../driver/driver.ts';
import { refuseWithoutLibrary } from '../driver/errors.ts';
import { givenDriver, type RedisClientLike } from '../driver/client-like.ts';
import {
  NodeRedisDriver,
  type Client,
  type ClientOptions,
  type ClientOverrides,
} from '../driver/node-redis-driver.ts';
import type { SingleKeyOf } from './single-key.ts';
import { serverOf } from './url.ts';

/** Options of `redis()`: how to connect to a Redis (6.2 or later) or a Valkey, and where the locks are stored in it. */
export interface RedisOptions {
  /**
   * Address of the server: `redis://user:password@host:6379/0`, or `rediss://` for TLS. Every part except the scheme is optional.
   * Parameters: `prefix`, and `ca`, `cert` and `key` with the paths of PEM files. Default `redis://127.0.0.1:6379`.
   */
  readonly url?: string;
  /**
   * A client to use instead of `url`: a client of npm redis (`createClient`, version 5 or 6) or a connection of ioredis (version 5 or 6).
   * It connects to one server, which may be a node of a cluster.
   *
   * The backend duplicates the client with its address, database, credentials and TLS. It does not change the client itself, which may do
   * other work and need not be connected. The duplicates override options that change replies or end connections (`stringNumbers`,
   * `typeMapping`, `commandOptions`, `RESP`, `clientSideCache`, timeouts).
   *
   * `redis()` refuses a `keyPrefix`, a connection to a replica, and a database that `select()` of ioredis has chosen. It cannot detect a
   * `select()` of npm redis: only the option `database` counts. The first connection verifies the form of replies. If the client changes
   * them, the first call that needs the server rejects with `INVALID_ARGUMENT`.
   */
  readonly client?: RedisClientLike;
  /** Certificates and key as PEM texts, together with a `rediss://` URL. Without `ca`, the certificate authorities of Node are trusted. */
  readonly tls?: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
  };
  /**
   * Prefix of all keys and channels, written in braces. The braces keep all keys in one hash slot of a cluster, so that any locks can be
   * taken together. Clients with different prefixes do not share queues. Default `queuelock`.
   */
  readonly prefix?: string;
  /** Timeout of one request, connecting included, in milliseconds. After it, the outcome of the request is unknown. Default 1,500. */
  readonly requestTimeoutMs?: number;
  /**
   * For a migration from locks without a queue, as npm redlock and the `Mutex` of redis-semaphore take them by `SET key value NX PX`.
   * Returns the key that such clients lock for a queue, as it is stored, or `undefined` for a queue that they do not lock.
   *
   * A holder of such a queue holds that key as well, so both kinds of clients exclude each other. Fairness between them is not promised.
   * Such a queue accepts no shared locks, no limit above 1, and no acquisition together with other queues. The function must always return
   * the same key for a queue, in all processes. Default: none.
   */
  readonly singleKey?: (queue: string) => string | undefined;
}

/** Options after `settingsOf` has checked them. */
export interface Settings {
  readonly driver: Driver;
  readonly prefix: string;
  readonly requestTimeoutMs: number;
  readonly singleKey: SingleKeyOf | undefined;
}

const OPTIONS: KnownOptions<RedisOptions> = {
  url: 'string',
  client: 'object',
  tls: 'object',
  prefix: 'any',
  requestTimeoutMs: 'any',
  singleKey: 'function',
};
const TLS_OPTIONS: KnownOptions<NonNullable<RedisOptions['tls']>> = { ca: 'any', cert: 'any', key: 'any' };
const DEFAULT_URL = 'redis://127.0.0.1:6379';
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Checks the options and fills in their defaults. No error message contains a password.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 */
export function settingsOf(options: RedisOptions): Settings {
  const {
    url,
    client,
    tls,
    requestTimeoutMs = 1_500,
    singleKey,
    ...rest
  } = checkedOptions('options of redis', options, OPTIONS);
  if (client !== undefined && (url !== undefined || tls !== undefined))
    throw invalidArgument('client', client, 'is given without url and tls: it has its own');
  if (!(typeof requestTimeoutMs === 'number' && requestTimeoutMs >= 1 && requestTimeoutMs <= LONGEST_MS)) {
    const rule = `is a number of milliseconds from 1 to ${LONGEST_MS}`;
    throw invalidArgument('requestTimeoutMs', requestTimeoutMs, rule);
  }
  if (client !== undefined)
    return { driver: givenDriver(client), prefix: checkPrefix(rest.prefix), requestTimeoutMs, singleKey };
  const server = serverOf(url ?? DEFAULT_URL);
  const settings = { ...server.tls, ...checkedTls(tls) };
  if (!server.secure && Object.keys(settings).length > 0)
    throw invalidArgument('url', server.endpoint, 'begins with rediss:// when there are certificates');
  return {
    driver: new NodeRedisDriver(server.endpoint, clientOptions(server, settings), makeClient),
    prefix: checkPrefix(rest.prefix ?? server.prefix),
    requestTimeoutMs,
    singleKey,
  };
}

function clientOptions(
  { host, port, secure, username, password, database }: ReturnType<typeof serverOf>,
  tls: NonNullable<RedisOptions['tls']>,
): ClientOptions {
  return {
    socket: secure ? { host, port, tls: true, ...tls } : { host, port },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(database === 0 ? {} : { database }),
  };
}

/** Creates a client of npm redis. The library is loaded with the first connection, not with this module. */
async function makeClient(options: ClientOverrides): Promise<Client> {
  const { createClient } = await import('redis').catch(refuseWithoutLibrary);
  return createClient(options as ClientOptions);
}

function checkPrefix(prefix: unknown = 'queuelock'): string {
  if (typeof prefix !== 'string' || !/^[^{}]+$/.test(prefix) || /\p{Surrogate}/u.test(prefix))
    throw invalidArgument('prefix', prefix, 'is well-formed Unicode, at least one character, without braces');
  return prefix;
}

function checkedTls(tls: RedisOptions['tls']): NonNullable<RedisOptions['tls']> {
  const given = checkedOptions('tls', tls, TLS_OPTIONS);
  secureContextOf(given, createSecureContext);
  return given;
}
