// Folder "api": declares and checks the options of the backend.
// options.ts (this file) checks options and sets their defaults. url.ts parses a URL.

import { createSecureContext } from 'node:tls';
import type { ClientConfig } from 'pg';
import {
  checkedOptions,
  connectionCredentials,
  invalidArgument,
  optionOfQueue,
  havePems,
  type ConnectionCredentials,
  type KnownOptions,
  type Login,
  type Provided,
  type QueueLockError,
} from '@queuelock/core/backend';
import type { AdvisoryKey, AdvisoryKeyOf } from '../advisory/advisory-key.ts';
import type { Driver } from '../driver/driver.ts';
import type { PgPoolLike } from '../driver/pool-like.ts';
import { givenDriver } from '../driver/pool-driver.ts';
import { checkSchema } from '../queue/names.ts';
import { PgDriver } from '../driver/pg-driver.ts';
import { clientDriver, type PostgresJsLike } from '../driver/postgres-js-client.ts';
import { connectSocket, PostgresJsDriver, type PostgresJsConfig } from '../driver/postgres-js-driver.ts';
import { DEFAULT_SCHEMA } from '../sql/migration.ts';
import { sslModeOf, tlsOf, type SslMode, type TlsOptions } from '../driver/tls.ts';
import { EMPTY, type Observable } from '../base/rx.ts';
import { serverOf, type Server } from './url.ts';

/** Options of `postgres()`: how to connect to a PostgreSQL, and in which schema the locks are stored. */
export interface PostgresOptions {
  /**
   * Address of the server: `postgres://user:password@host:5432/database`. Every part except the scheme is optional. npm pg replaces absent
   * parts by its own defaults (`PGHOST`, `PGUSER`, `PGPASSWORD`, …). Parameters: `schema`, `sslmode` (`disable`, `require`, `verify-ca`,
   * `verify-full`), `driver` as the option of that name, and `ca`, `cert` and `key` with the paths of PEM files. Default `postgres:`.
   */
  readonly url?: string;
  /**
   * A `Pool` of npm pg (version 8) to use instead of `url`, with its address, credentials and TLS.
   *
   * The backend keeps two of its connections until the client is closed, so that heartbeats and steps do not wait for the application: one connection
   * listens and sends heartbeats, the other one runs steps. It borrows further connections for one step each. So the pool's `max` must be at least 2
   * more than the application uses at a time. The backend never ends the pool.
   *
   * Type parsers that the application has set have no effect. The first connection verifies the form of rows. If the pool changes them, the first
   * call that needs the server rejects with `INVALID_ARGUMENT`.
   */
  readonly pool?: PgPoolLike;
  /**
   * A client of npm postgres (postgres.js, version 3.4 or later) to use instead of `url`.
   *
   * The backend opens connections of its own with the client's address, credentials, TLS, `connection`, `prepare` and `socket`, which it reads
   * once, at this call. So locks never wait for the application, and `transform`, `types` and other options that change rows have no effect.
   * These connections are in addition to the `max` of the client: one that listens, and up to `connections` for steps. The client itself is
   * neither used nor ended. It must have one host. Behind a pooler in transaction mode, it needs `prepare: false`.
   */
  readonly client?: PostgresJsLike;
  /**
   * The npm package that connects to the `url`: `pg`, which is installed with this package, or `postgres`, which the application installs. Default:
   * the package that the parameter `driver` of the URL names, else `pg`.
   */
  readonly driver?: 'pg' | 'postgres';
  /**
   * Certificates and key as PEM texts, for a connection to the `url`. They set `sslmode` to `verify-full` unless the URL names another mode. The
   * value may be a function that returns the texts or a promise of them. Texts from this function, or from files that the URL names, are read again
   * for each new connection. If a read fails, or a file is half written, the last valid texts are used, and `errors$` of the lock client emits the
   * failure.
   */
  readonly tls?: Provided<TlsOptions>;
  /**
   * User and password, in place of those in the URL. The value may be a function that returns them or a promise of them. The function is called for
   * each new connection, so passwords may rotate. It must return its result within half of `requestTimeoutMs`. If it fails, the last valid result is
   * used, and `errors$` of the lock client emits the failure. Default: user and password of the URL.
   */
  readonly auth?: Provided<Login>;
  /** Schema of all tables and functions. Clients with different schemas do not share queues. Default `queuelock`. */
  readonly schema?: string;
  /**
   * Creates the schema and its tables when they are absent. The user needs the right to do so. With `false`,
   * an administrator runs the statements of `migration` instead. Default `true`.
   */
  readonly migrate?: boolean;
  /** Maximum number of connections for steps, in addition to the one that listens. From 1 to 1,000. Default 4. */
  readonly connections?: number;
  /** Timeout of one statement, and of connecting, in milliseconds. After it, the outcome of the statement is unknown. Default 1,500. */
  readonly requestTimeoutMs?: number;
  /**
   * For a migration from advisory locks (`pg_advisory_lock(key)`). Returns the key of the advisory lock that
   * other programs use for a queue, or `undefined` if they use none.
   *
   * A holder of a queue with such a key also holds the advisory lock. A shared holder takes it by
   * `pg_advisory_lock_shared`. Each holder and each entry that is next needs a connection of its own, in
   * addition to `connections`. A `pool` must be larger by that number.
   *
   * A queue with such a key accepts no limit above 1 and no acquisition together with other queues. The
   * server must not be behind a pooler in transaction mode. Otherwise calls reject with `INVALID_ARGUMENT`.
   * Holds of such a queue cannot be resumed. All processes must return the same key for a queue.
   */
  readonly advisoryKey?: (queue: string) => AdvisoryKey | undefined;
}

/** The options of `postgres()` after they were checked, with the defaults for absent ones. */
export interface Settings {
  readonly driver: Driver;
  readonly schema: string;
  readonly migrate: boolean;
  readonly connections: number;
  readonly requestTimeoutMs: number;
  readonly advisoryKey: AdvisoryKeyOf | undefined;
  /** Emits an error each time that the backend fails to read the credentials or certificates again for a new connection. */
  readonly errors$: Observable<QueueLockError>;
}

const OPTIONS: KnownOptions<PostgresOptions> = {
  url: 'string',
  pool: 'object',
  client: 'any',
  driver: 'any',
  tls: 'any',
  auth: 'any',
  schema: 'any',
  migrate: 'boolean',
  connections: 'any',
  requestTimeoutMs: 'any',
  advisoryKey: 'function',
};
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Checks the options and fills in their defaults. No error message contains a password.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 */
export function settingsOf(options: PostgresOptions): Settings {
  const {
    url,
    pool,
    client,
    driver,
    tls,
    auth,
    migrate = true,
    connections = 4,
    requestTimeoutMs = 1_500,
    advisoryKey,
    ...rest
  } = checkedOptions('options of postgres', options, OPTIONS);
  const given = givenOf({ pool, client });
  if (given !== undefined && (url ?? tls ?? auth ?? driver) !== undefined) {
    const rule = 'is given without url, driver, tls and auth: it has its own';
    throw invalidArgument(pool === undefined ? 'client' : 'pool', '(not shown)', rule);
  }
  if (!(typeof requestTimeoutMs === 'number' && requestTimeoutMs >= 1 && requestTimeoutMs <= LONGEST_MS)) {
    const rule = `is a number of milliseconds from 1 to ${LONGEST_MS}`;
    throw invalidArgument('requestTimeoutMs', requestTimeoutMs, rule);
  }
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= 1_000))
    throw invalidArgument('connections', connections, 'is a whole number from 1 to 1,000');
  const more = {
    migrate,
    connections,
    requestTimeoutMs,
    advisoryKey: advisoryKey && optionOfQueue('advisoryKey', advisoryKey),
  };
  if (given !== undefined)
    return {
      driver: given,
      schema: checkSchema(rest.schema ?? DEFAULT_SCHEMA),
      errors$: EMPTY,
      ...more,
    };
  const own = ownServer({ url, driver, tls, auth }, requestTimeoutMs);
  return { ...own, schema: checkSchema(rest.schema ?? own.schema ?? DEFAULT_SCHEMA), ...more };
}

/** Returns the driver for the pool or the client that the application passes. */
function givenOf({
  pool,
  client,
}: {
  [Name in 'pool' | 'client']: PostgresOptions[Name] | undefined;
}): Driver | undefined {
  if (pool !== undefined && client !== undefined)
    throw invalidArgument('client', '(not shown)', 'or pool is given, and not both');
  if (client !== undefined) return clientDriver(client);
  return pool && givenDriver(pool);
}

/** Returns the settings for connections that the backend opens itself, and the schema from the URL. */
function ownServer(
  {
    url = 'postgres:',
    driver,
    tls,
    auth,
  }: { [Name in 'url' | 'driver' | 'tls' | 'auth']: PostgresOptions[Name] | undefined },
  requestTimeoutMs: number,
): Pick<Settings, 'driver' | 'errors$'> & { readonly schema: string | undefined } {
  const server = serverOf(url);
  const { files, login, endpoint, schema } = server;
  const limits = { withinMs: requestTimeoutMs / 2, makeContext: createSecureContext };
  const credentials = connectionCredentials({ files, login, tls, auth, ...limits });
  const mode = sslModeOf(server.sslmode, havePems(files, tls));
  const library = driver ?? server.driver ?? 'pg';
  if (!['pg', 'postgres'].includes(library)) throw invalidArgument('driver', library, 'is pg or postgres');
  const made =
    library === 'pg'
      ? new PgDriver(endpoint, async () => clientConfig(server, mode, await credentials.next()))
      : new PostgresJsDriver(endpoint, async () => postgresJsConfig(server, mode, await credentials.next()));
  return { driver: made, errors$: credentials.errors$, schema };
}

function postgresJsConfig(
  {
    host = process.env['PGHOST'] ?? '127.0.0.1',
    port = Number(process.env['PGPORT'] ?? 5432),
    database,
  }: Server,
  mode: SslMode,
  { pems, login: { username, password } }: ConnectionCredentials,
): PostgresJsConfig {
  const ssl = tlsOf(mode, pems);
  return {
    connect: () => connectSocket({ host, port }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    // `host` is the name with which Node compares the server's certificate.
    ssl: ssl && { ...ssl, host },
    connection: { application_name: 'queuelock' },
  };
}

function clientConfig(
  { host, port, database }: Server,
  mode: SslMode,
  { pems, login: { username: user, password } }: ConnectionCredentials,
): ClientConfig {
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ssl: tlsOf(mode, pems),
    keepAlive: true,
    application_name: 'queuelock',
  };
}
