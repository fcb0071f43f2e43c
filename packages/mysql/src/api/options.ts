// Chapter api: what can be set?
// Checked, with its defaults, in one place (here); the same as a URL (url).

import { createSecureContext } from 'node:tls';
import { checkedOptions, invalidArgument, secureContextOf, type KnownOptions } from '@queuelock/core/backend';
import type { ConnectionOptions } from 'mysql2';
import type { Driver } from '../driver/driver.ts';
import { OwnDriver } from '../driver/own-driver.ts';
import { PoolDriver, type MysqlPoolLike } from '../driver/pool-driver.ts';
import { tlsAddress } from '../driver/tls-address.ts';
import { serverOf, type Server } from './url.ts';

/** How to reach a MySQL (8.0.2 or later) or a MariaDB (10.6 or later), and which database has the tables. */
export interface MysqlOptions {
  /**
   * `mysql://user:password@host:3306/database`, or `mariadb://`, which means the same; only the database has to be there. Parameters:
   * `tls=true`, and `ca`, `cert`, `key`, the names of PEM files, which switch TLS on as well.
   */
  readonly url?: string;
  /**
   * Instead of `url`: a pool of `mysql2/promise` (version 3). Up to two of its connections are kept until the client is closed, so that
   * heartbeats and releases do not wait for the application; others are borrowed for one step each. So its `connectionLimit` is at least 2
   * more than the application uses at a time. Its connections name a database, and the application gives them back without an open
   * transaction. The pool is never ended here. How the pool reads values (`typeCast`, `rowsAsArray`, `decimalNumbers`, `bigNumberStrings`,
   * …) does not matter. The first connection verifies the form of rows; a pool that changes them is refused with `INVALID_ARGUMENT` by the
   * first call that needs the server.
   */
  readonly pool?: MysqlPoolLike;
  /** With a `url`: PEM texts; giving them switches TLS on. Without `ca` the authorities that Node knows are trusted. */
  readonly tls?: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
  };
  /** How many steps are on their way at a time, each on a connection of its own; heartbeats have one more. From 1 to 64. Default 4. */
  readonly connections?: number;
  /** How long one step may take, connecting included, before its outcome counts as unknown, in milliseconds. Default 1,500. */
  readonly requestTimeoutMs?: number;
}

/** The same, checked. */
export interface Settings {
  readonly driver: Driver;
  readonly connections: number;
  readonly requestTimeoutMs: number;
}

const OPTIONS: KnownOptions<MysqlOptions> = {
  url: 'string',
  pool: 'object',
  tls: 'object',
  connections: 'any',
  requestTimeoutMs: 'any',
};
const TLS_OPTIONS: KnownOptions<NonNullable<MysqlOptions['tls']>> = { ca: 'any', cert: 'any', key: 'any' };
const LONGEST_MS = 2 ** 31 - 1;
const MAX_CONNECTIONS = 64;

/** @throws {QueueLockError} `INVALID_ARGUMENT`; no message repeats a password. */
export function settingsOf(options: MysqlOptions): Settings {
  const {
    url,
    pool,
    tls,
    connections = 4,
    requestTimeoutMs = 1_500,
  } = checkedOptions('options of mysql', options, OPTIONS);
  if ((url === undefined) === (pool === undefined))
    throw invalidArgument('url', '(not shown)', 'or pool is given, and not both');
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= MAX_CONNECTIONS))
    throw invalidArgument('connections', connections, `is a whole number from 1 to ${MAX_CONNECTIONS}`);
  if (!(typeof requestTimeoutMs === 'number' && requestTimeoutMs >= 1 && requestTimeoutMs <= LONGEST_MS)) {
    const rule = `is a number of milliseconds from 1 to ${LONGEST_MS}`;
    throw invalidArgument('requestTimeoutMs', requestTimeoutMs, rule);
  }
  if (pool !== undefined) {
    if (tls !== undefined)
      throw invalidArgument('pool', '(not shown)', 'is given without tls: it has its own');
    return { driver: new PoolDriver(pool), connections, requestTimeoutMs };
  }
  const server = serverOf(url ?? '');
  const driver = new OwnDriver(
    server.endpoint,
    connectionOptions(server, { ...server.tls, ...checkedTls(tls) }, requestTimeoutMs),
    requestTimeoutMs,
  );
  return { driver, connections, requestTimeoutMs };
}

function connectionOptions(
  { host, port, user, password, database, secure }: Server,
  tls: NonNullable<MysqlOptions['tls']>,
  connectTimeout: number,
): ConnectionOptions {
  const isEncrypted = secure || Object.keys(tls).length > 0;
  return {
    ...(isEncrypted ? tlsAddress(host, port) : { host, port }),
    database,
    connectTimeout,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(isEncrypted ? { ssl: { ...tls, verifyIdentity: true } } : {}),
  };
}

function checkedTls(tls: MysqlOptions['tls']): NonNullable<MysqlOptions['tls']> {
  const given = checkedOptions('tls', tls, TLS_OPTIONS);
  secureContextOf(given, createSecureContext);
  return given;
}
