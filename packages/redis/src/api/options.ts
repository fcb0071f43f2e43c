// Folder "api": declares and checks the options of the backend.
// options.ts (this file) checks options and sets their defaults. url.ts parses a URL. single-key.ts checks the keys of the option
// `singleKey`.

import { createSecureContext, type ConnectionOptions } from 'node:tls';
import {
  checkedOptions,
  connectionCredentials,
  invalidArgument,
  optionOfQueue,
  havePems,
  type ConnectionCredentials,
  type KnownOptions,
  type Login,
  type PemTexts,
  type Provided,
  type QueueLockError,
} from '@queuelock/core/backend';
import type { Driver } from '../driver/driver.ts';
import { refuseWithoutLibrary } from '../driver/errors.ts';
import type { RedisClientLike } from '../driver/client-like.ts';
import { givenDriver } from '../driver/client-driver.ts';
import {
  NodeRedisDriver,
  type Client,
  type ClientOptions,
  type ClientOverrides,
} from '../driver/node-redis-driver.ts';
import type { SingleKeyOf } from './single-key.ts';
import { EMPTY, type Observable } from '../base/rx.ts';
import { serverOf, type Server } from './url.ts';

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
   * `select()` of npm redis, and uses the database of the option `database`. The first connection verifies that replies arrive as the
   * server sent them. If the client changes them, the first call that needs the server rejects with `INVALID_ARGUMENT`.
   */
  readonly client?: RedisClientLike;
  /**
   * Certificates and key as PEM texts, for a `rediss://` URL. Without `ca`, the certificate authorities of Node are trusted. A function, which may
   * return a promise, is called again for each new connection, and files that the URL names are read again. If the function or a read fails, or a
   * file is half written, the last valid ones are used, and `errors$` of the lock client emits the failure.
   */
  readonly tls?: Provided<PemTexts>;
  /**
   * User and password, in place of those of the URL, or a function that returns them or a promise of them. The function is called for each new
   * connection, so passwords may rotate. It has half of `requestTimeoutMs` for its result. If it fails, the last valid result is used, and
   * `errors$` of the lock client emits the failure. Default: those of the URL.
   */
  readonly auth?: Provided<Login>;
  /**
   * Prefix of all keys and channels, written in braces. The braces keep all keys in one hash slot of a cluster, so that any locks can be
   * taken together. Clients with different prefixes do not share queues. Default `queuelock`.
   */
  readonly prefix?: string;
  /** Timeout of one request, connecting included, in milliseconds. After it, the outcome of the request is unknown. Default 1,500. */
  readonly requestTimeoutMs?: number;
  /**
   * For a migration from programs that lock one key by `SET key value NX PX`, without a queue: npm redlock, or the `Mutex` of redis-semaphore. Gets
   * the name of a queue. Returns the full name in Redis of the key that these programs lock instead of joining the queue, or `undefined` if there is
   * no such key.
   *
   * A holder of a queue with such a key holds the key as well, so it excludes these programs, and they exclude it. The order of grants between them
   * and the queue need not be fair. A queue with such a key accepts no shared locks, no limit above 1, and no acquisition together with other queues. The
   * function must always return the same key for a queue, in all processes. Default: none.
   */
  readonly singleKey?: (queue: string) => string | undefined;
}

/** The checked options of the backend, with defaults filled in. */
export interface Settings {
  readonly driver: Driver;
  readonly prefix: string;
  readonly requestTimeoutMs: number;
  readonly singleKey: SingleKeyOf | undefined;
  /** Emits an error when the credentials or certificates for a new connection could not be read again. */
  readonly errors$: Observable<QueueLockError>;
}

const OPTIONS: KnownOptions<RedisOptions> = {
  url: 'string',
  client: 'object',
  tls: 'any',
  auth: 'any',
  prefix: 'any',
  requestTimeoutMs: 'any',
  singleKey: 'function',
};
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
    auth,
    requestTimeoutMs = 1_500,
    singleKey: givenKey,
    ...rest
  } = checkedOptions('options of redis', options, OPTIONS);
  const singleKey = givenKey && optionOfQueue('singleKey', givenKey);
  if (client !== undefined && (url ?? tls ?? auth) !== undefined)
    throw invalidArgument('client', client, 'is given without url, tls and auth: it has its own');
  if (!(typeof requestTimeoutMs === 'number' && requestTimeoutMs >= 1 && requestTimeoutMs <= LONGEST_MS)) {
    const rule = `is a number of milliseconds from 1 to ${LONGEST_MS}`;
    throw invalidArgument('requestTimeoutMs', requestTimeoutMs, rule);
  }
  const common = { requestTimeoutMs, singleKey };
  if (client !== undefined)
    return { driver: givenDriver(client), prefix: checkPrefix(rest.prefix), errors$: EMPTY, ...common };
  const own = ownServer({ url, tls, auth }, requestTimeoutMs);
  return { ...own, prefix: checkPrefix(rest.prefix ?? own.prefix), ...common };
}

/** Returns the driver for the server that the URL names, and the key prefix of that URL. Used if the caller has passed no client. */
function ownServer(
  { url = DEFAULT_URL, tls, auth }: { [Name in 'url' | 'tls' | 'auth']: RedisOptions[Name] | undefined },
  requestTimeoutMs: number,
): Pick<Settings, 'driver' | 'errors$'> & { readonly prefix: string | undefined } {
  const server = serverOf(url);
  const { files, login, secure, endpoint, prefix } = server;
  const limits = { withinMs: requestTimeoutMs / 2, makeContext: createSecureContext };
  const credentials = connectionCredentials({ files, login, tls, auth, ...limits });
  if (!secure && havePems(files, tls))
    throw invalidArgument('url', endpoint, 'begins with rediss:// when there are certificates');
  const optionsNow = async (): Promise<ClientOptions> => clientOptions(server, await credentials.next());
  return {
    driver: new NodeRedisDriver(endpoint, optionsNow, makeClient),
    errors$: credentials.errors$,
    prefix,
  };
}

function clientOptions(
  { host, port, secure, database }: Server,
  { pems, login: { username, password } }: ConnectionCredentials,
): ClientOptions {
  return {
    socket: secure ? { host, port, tls: true, ...tlsWith(pems) } : { host, port },
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

/** Returns the PEM texts without properties that are `undefined`. npm redis would pass them on to its TLS connection as `undefined`. */
function tlsWith({ ca, cert, key }: PemTexts): Pick<ConnectionOptions, 'ca' | 'cert' | 'key'> {
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}
