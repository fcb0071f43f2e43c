// Chapter api: what can be set?
// Checked, with its defaults, in one place (here); the same as a URL (url).

import type { ClientConfig } from 'pg';
import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import type { AdvisoryKey, AdvisoryKeyOf } from '../advisory/advisory-key.ts';
import type { Driver } from '../driver/driver.ts';
import { givenDriver, type PgPoolLike } from '../driver/pool-like.ts';
import { checkSchema } from '../queue/names.ts';
import { PgDriver } from '../driver/pg-driver.ts';
import { DEFAULT_SCHEMA } from '../sql/migration.ts';
import { tlsOf, type TlsOptions } from '../driver/tls.ts';
import { serverOf, type Server } from './url.ts';

/** How to reach a PostgreSQL, and which of its schemas is the locks'. */
export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database`; each part but the scheme may be left out, and is then what the client library finds
   * (`PGHOST`, `PGUSER`, `PGPASSWORD`, …). Parameters: `schema`; `sslmode` (`disable`, `require`, `verify-ca`, `verify-full`), and `ca`,
   * `cert`, `key`, the names of PEM files. Default `postgres:`.
   */
  readonly url?: string;
  /**
   * Instead of `url`: a `Pool` of npm pg (version 8), which has its address, credentials and TLS. Two of its connections are kept until the
   * client is closed, one that listens and sends heartbeats and one for steps, so that neither waits for the application; others are borrowed
   * for one step each. So its `max` is at least 2 more than the application uses at a time. It is not ended. Parsers of types that the
   * application has set do not matter. The first connection verifies the form of rows; a pool that changes them is refused with
   * `INVALID_ARGUMENT` by the first call that needs the server.
   */
  readonly pool?: PgPoolLike;
  /** With a `url`: PEM texts. With any of them `sslmode` is `verify-full`, unless the URL says another. */
  readonly tls?: TlsOptions;
  /** All that is stored is in it. Who has another one stands in other queues. Default `queuelock`. */
  readonly schema?: string;
  /** Makes schema and tables if they are not there, which needs the right to. Default `true`; `false`: somebody else does (`migration`). */
  readonly migrate?: boolean;
  /** Connections for steps, beside the one that listens. Default 4. */
  readonly connections?: number;
  /** How long one step may take, and how long connecting may, before its outcome counts as unknown, in milliseconds. Default 1,500. */
  readonly requestTimeoutMs?: number;
  /**
   * For a migration: the key of the advisory lock that others take for a queue (`pg_advisory_lock(key)`), if any. Who holds the queue has
   * that lock as well, readers by `pg_advisory_lock_shared`. Each that holds or is next has a connection of its own, beside `connections`; a
   * `pool` has to be so much larger. Such queues take no limits above 1 and are not entered together with others, holds in them are not
   * resumed, and no pooler in transaction mode is in between: `INVALID_ARGUMENT`. All processes that use the queue say the same.
   */
  readonly advisoryKey?: (queue: string) => AdvisoryKey | undefined;
}

/** The same, checked. */
export interface Settings {
  readonly driver: Driver;
  readonly schema: string;
  readonly migrate: boolean;
  readonly connections: number;
  readonly requestTimeoutMs: number;
  readonly advisoryKey: AdvisoryKeyOf | undefined;
}

const OPTIONS: KnownOptions<PostgresOptions> = {
  url: 'string',
  pool: 'object',
  tls: 'object',
  schema: 'any',
  migrate: 'boolean',
  connections: 'any',
  requestTimeoutMs: 'any',
  advisoryKey: 'function',
};
const LONGEST_MS = 2 ** 31 - 1;

/** @throws {QueueLockError} `INVALID_ARGUMENT`; no message repeats a password. */
export function settingsOf(options: PostgresOptions): Settings {
  const {
    url,
    pool,
    tls = {},
    migrate = true,
    connections = 4,
    requestTimeoutMs = 1_500,
    advisoryKey,
    ...rest
  } = checkedOptions('options of postgres', options, OPTIONS);
  if (pool !== undefined && (url !== undefined || options.tls !== undefined))
    throw invalidArgument('pool', pool, 'is given without url and tls: it has its own');
  if (!(typeof requestTimeoutMs === 'number' && requestTimeoutMs >= 1 && requestTimeoutMs <= LONGEST_MS)) {
    const rule = `is a number of milliseconds from 1 to ${LONGEST_MS}`;
    throw invalidArgument('requestTimeoutMs', requestTimeoutMs, rule);
  }
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= 1_000))
    throw invalidArgument('connections', connections, 'is a whole number from 1 to 1,000');
  const more = { migrate, connections, requestTimeoutMs, advisoryKey };
  if (pool !== undefined)
    return { driver: givenDriver(pool), schema: checkSchema(rest.schema ?? DEFAULT_SCHEMA), ...more };
  const server = serverOf(url ?? 'postgres:');
  const config = clientConfig(server, { ...server.tls, ...tls });
  return {
    driver: new PgDriver(server.endpoint, config),
    schema: checkSchema(rest.schema ?? server.schema ?? DEFAULT_SCHEMA),
    ...more,
  };
}

function clientConfig(
  { host, port, user, password, database, sslmode }: Server,
  pems: TlsOptions,
): ClientConfig {
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ssl: tlsOf(sslmode, pems),
    keepAlive: true,
    application_name: 'queuelock',
  };
}
