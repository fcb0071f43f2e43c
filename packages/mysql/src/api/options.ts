// Folder "api": declares and checks the options of the backend.
// options.ts (this file) checks options and sets their defaults. url.ts parses a URL.

import { createSecureContext } from 'node:tls';
import {
  checkedOptions,
  connectionCredentials,
  invalidArgument,
  havePems,
  type ConnectionCredentials,
  type KnownOptions,
  type Login,
  type PemTexts,
  type Provided,
  type QueueLockError,
} from '@queuelock/core/backend';
import type { ConnectionConfig } from 'mariadb';
import type { ConnectionOptions } from 'mysql2';
import type { Driver } from '../driver/driver.ts';
import { MariadbDriver } from '../driver/mariadb-driver.ts';
import { OwnDriver } from '../driver/own-driver.ts';
import { PoolDriver, type MysqlPoolLike } from '../driver/pool-driver.ts';
import { tlsAddress, tlsIdentity } from '../driver/tls-address.ts';
import { EMPTY, type Observable } from '../base/rx.ts';
import { serverOf, type Server } from './url.ts';

/** Options of `mysql()`: how to connect to a MySQL (8.0.2 or later) or a MariaDB (10.6 or later), and the database of the tables. */
export interface MysqlOptions {
  /**
   * Address of the database: `mysql://user:password@host:3306/database`, or equivalently `mariadb://`. Every part except the scheme and the
   * database is optional. Parameters: `tls=true`, `driver` as the option of that name, and `ca`, `cert` and `key` with the paths of PEM files,
   * which enable TLS too.
   */
  readonly url?: string;
  /**
   * A pool of `mysql2/promise` (version 3) or of npm mariadb (version 3.5) to use instead of `url`. Its connections must name a database, and the
   * application must give them back without an open transaction.
   *
   * The backend keeps up to two of its connections until the client is closed, so that heartbeats and releases do not wait for the application. It
   * borrows further connections for one step each. So the pool's `connectionLimit` must be at least 2 more than the application uses at a time. The
   * backend never ends the pool.
   *
   * Options of the pool for reading values (`typeCast`, `rowsAsArray`, `decimalNumbers`, `bigNumberStrings`, `bigIntAsNumber`, …) have no effect. The
   * first connection verifies the form of rows. If the pool or a wrapper of it changes the rows, the first call that needs the server rejects with
   * `INVALID_ARGUMENT`.
   */
  readonly pool?: MysqlPoolLike;
  /**
   * The npm package that connects to the `url`: `mysql2`, which is installed with this package, or `mariadb`, which the application installs.
   * Default: the package that the parameter `driver` of the URL names, else `mysql2`.
   */
  readonly driver?: 'mysql2' | 'mariadb';
  /**
   * Certificates and key as PEM texts, for a connection to the `url`. They enable TLS. Without `ca`, the certificate authorities of Node are trusted.
   * The value may be a function that returns the texts or a promise of them. Texts from this function, or from files that the URL names, are read
   * again for each new connection. If a read fails, or a file is half written, the last valid texts are used, and `errors$` of the lock client emits
   * the failure.
   */
  readonly tls?: Provided<PemTexts>;
  /**
   * User and password, in place of those in the URL. The value may be a function that returns them or a promise of them. The function is called for
   * each new connection, so passwords may rotate. It must return its result within half of `requestTimeoutMs`. If it fails, the last valid result is
   * used, and `errors$` of the lock client emits the failure. Default: user and password of the URL.
   */
  readonly auth?: Provided<Login>;
  /** Maximum number of concurrent steps, each on its own connection. Heartbeats may use one more connection. From 1 to 64. Default 4. */
  readonly connections?: number;
  /** Timeout of one statement, connecting included, in milliseconds. After it, the outcome of the statement is unknown. Default 1,500. */
  readonly requestTimeoutMs?: number;
}

/** The options of `mysql()` after they were checked, with the defaults for absent ones. */
export interface Settings {
  readonly driver: Driver;
  readonly connections: number;
  readonly requestTimeoutMs: number;
  /**
   * Emits an error each time that the backend fails to read the credentials or certificates again for a new
   * connection.
   */
  readonly errors$: Observable<QueueLockError>;
}

const OPTIONS: KnownOptions<MysqlOptions> = {
  url: 'string',
  pool: 'object',
  driver: 'any',
  tls: 'any',
  auth: 'any',
  connections: 'any',
  requestTimeoutMs: 'any',
};
const LONGEST_MS = 2 ** 31 - 1;
const MAX_CONNECTIONS = 64;

/**
 * Checks the options and fills in their defaults. No error message contains a password.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 */
export function settingsOf(options: MysqlOptions): Settings {
  const {
    url,
    pool,
    driver,
    tls,
    auth,
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
    if ((tls ?? auth ?? driver) !== undefined)
      throw invalidArgument('pool', '(not shown)', 'is given without tls, auth and driver: it has its own');
    return { driver: new PoolDriver(pool), connections, requestTimeoutMs, errors$: EMPTY };
  }
  const own = ownServer({ url, driver, tls, auth }, requestTimeoutMs);
  return { ...own, connections, requestTimeoutMs };
}

/** Returns the settings for connections that the backend opens itself, without a pool. */
function ownServer(
  {
    url = '',
    driver,
    tls,
    auth,
  }: { [Name in 'url' | 'driver' | 'tls' | 'auth']: MysqlOptions[Name] | undefined },
  withinMs: number,
): Pick<Settings, 'driver' | 'errors$'> {
  const server = serverOf(url);
  const library = driver ?? server.driver ?? 'mysql2';
  if (!['mysql2', 'mariadb'].includes(library))
    throw invalidArgument('driver', library, 'is mysql2 or mariadb');
  const { files, login, endpoint } = server;
  const limits = { withinMs: withinMs / 2, makeContext: createSecureContext };
  const credentials = connectionCredentials({ files, login, tls, auth, ...limits });
  const secured = { ...server, secure: server.secure || havePems(tls) };
  const made =
    library === 'mysql2'
      ? new OwnDriver(
          endpoint,
          async () => connectionOptions(secured, await credentials.next(), withinMs),
          withinMs,
        )
      : new MariadbDriver(
          endpoint,
          async () => mariadbOptions(secured, await credentials.next(), withinMs),
          withinMs,
        );
  return { driver: made, errors$: credentials.errors$ };
}

function mariadbOptions(
  { host, port, database, secure }: Server,
  { pems: { ca, cert, key }, login: { username: user, password } }: ConnectionCredentials,
  connectTimeout: number,
): ConnectionConfig {
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return {
    ...{ host, port, database, connectTimeout },
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(secure && { ssl: { ...tls, ...tlsIdentity(host) } }),
  };
}

function connectionOptions(
  { host, port, database, secure }: Server,
  { pems: { ca, cert, key }, login: { username: user, password } }: ConnectionCredentials,
  connectTimeout: number,
): ConnectionOptions {
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return {
    ...(secure ? tlsAddress(host, port) : { host, port }),
    database,
    connectTimeout,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(secure ? { ssl: { ...tls, verifyIdentity: true } } : {}),
  };
}
