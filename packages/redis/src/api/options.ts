// Chapter api: what can be set?
// Checked, with its defaults, in one place (here); the same as a URL (url); the key of clients without queues (single-key).

import { createSecureContext } from 'node:tls';
import { checkedOptions, invalidArgument, secureContextOf, type KnownOptions } from '@queuelock/core/backend';
import type { Driver } from '../driver/driver.ts';
import { givenDriver, type RedisClientLike } from '../driver/client-like.ts';
import {
  NodeRedisDriver,
  type Client,
  type ClientOptions,
  type ClientOverrides,
} from '../driver/node-redis-driver.ts';
import type { SingleKeyOf } from './single-key.ts';
import { serverOf } from './url.ts';

/** How to reach a Redis (6.2 or later) or a Valkey, and which of its keys are the locks'. */
export interface RedisOptions {
  /**
   * `redis://user:password@host:6379/0`, or `rediss://` for TLS; each part but the scheme may be left out. Parameters: `prefix`, and
   * `ca`, `cert`, `key`, the names of PEM files. Default `redis://127.0.0.1:6379`.
   */
  readonly url?: string;
  /**
   * Instead of `url`: a client of npm redis (`createClient`, version 5 or 6) or a connection of ioredis (version 5 or 6) to one server, which
   * may be a node of a cluster. It is duplicated, with its address, database, credentials and TLS, and otherwise left alone: it may do other
   * work, and need not be connected. The duplicates replace options that change replies or end connections (`stringNumbers`, `typeMapping`,
   * `commandOptions`, `RESP`, `clientSideCache`, timeouts). A `keyPrefix`, a connection to a replica, and a database that `select()` of
   * ioredis has chosen are refused. `select()` of npm redis cannot be seen: only its option `database` counts. The first connection
   * verifies the form of replies; a client that changes them is refused with `INVALID_ARGUMENT` by the first call that needs the server.
   */
  readonly client?: RedisClientLike;
  /** With a `url`: PEM texts; giving them switches TLS on. Without `ca` the authorities that Node knows are trusted. */
  readonly tls?: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
  };
  /**
   * All keys begin with it in braces, so they are in one hash slot of a cluster, and any locks can be taken together. Who has another
   * one stands in other queues. Default `queuelock`.
   */
  readonly prefix?: string;
  /** How long one step may take, connecting included, before its outcome counts as unknown, in milliseconds. Default 1,500. */
  readonly requestTimeoutMs?: number;
  /**
   * For a migration, as long as clients without a queue lock the same things by `SET key value NX PX`, as npm redlock and redis-semaphore's
   * `Mutex` do: that key of a queue, as it is stored, or `undefined` for queues that they do not lock. Who owns such a queue has that key as
   * well, so they exclude each other; such queues take neither readers nor limits above 1 nor several at once, and fairness towards those
   * clients is not promised. Has to answer the same for a queue always, in all processes. Default: none.
   */
  readonly singleKey?: (queue: string) => string | undefined;
}

/** The same, checked. */
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

/** @throws {QueueLockError} `INVALID_ARGUMENT`; no message repeats a password. */
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

/** The library is loaded when the first connection is made. */
async function makeClient(options: ClientOverrides): Promise<Client> {
  const { createClient } = await import('redis');
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
