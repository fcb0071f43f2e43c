import { inspectHandedIn, invalidArgument } from '@queuelock/core/backend';
import type { Socket } from 'node:net';
import type { Driver } from './driver.ts';
import { PostgresJsDriver, connectSocket, type PostgresJsConfig } from './postgres-js-driver.ts';

/**
 * The part of a client of postgres.js that `postgres()` uses: its options, with which the backend opens
 * connections of its own.
 */
export interface PostgresJsLike {
  readonly options: object;
  /**
   * The method of postgres.js that reserves a connection. This package never calls it. Its presence shows
   * that the client is of postgres.js 3.4 or later.
   */
  reserve(): PromiseLike<unknown>;
}

const RULE = 'is a client of npm postgres (postgres.js, version 3.4 or later)';

/** The options as postgres.js has parsed them. */
interface ParsedOptions {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly path?: unknown;
  readonly database?: unknown;
  readonly user?: unknown;
  readonly pass?: unknown;
  readonly ssl?: unknown;
  readonly connection?: unknown;
  readonly prepare?: unknown;
  readonly keep_alive?: unknown;
  readonly socket?: unknown;
  readonly target_session_attrs?: unknown;
  readonly shared?: unknown;
}

/**
 * Creates the driver for a client that the application passes. The options of the client are read once, at
 * this call.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the client cannot be used
 */
export function clientDriver(client: PostgresJsLike): Driver {
  return inspectHandedIn('client', () => {
    const given: unknown = client;
    if (typeof given !== 'function' || typeof Reflect.get(given, 'reserve') !== 'function')
      throw invalidArgument('client', given, RULE);
    const options = Reflect.get(given, 'options') as ParsedOptions | null | undefined;
    if (options?.shared === undefined) throw invalidArgument('client', given, RULE);
    return driverOf(options);
  });
}

function driverOf(options: ParsedOptions): Driver {
  const { host, port, path, database, socket } = options;
  if (!Array.isArray(host) || !Array.isArray(port) || typeof database !== 'string')
    throw invalidArgument('client', '(not shown)', RULE);
  if (host.length !== 1) {
    const rule = 'has one host: which of several is the primary is unknown; name it by url';
    throw invalidArgument('option host of client', host.join(','), rule);
  }
  const [name, number] = [String(host[0]), Number(port[0])];
  const isLocal = typeof path === 'string' && path !== '';
  const address = isLocal ? { path } : { host: name, port: number };
  const connect = (): Promise<Socket> | Socket =>
    typeof socket === 'function'
      ? (socket as (of: ParsedOptions) => Socket)(options)
      : connectSocket(address);
  const place = isLocal ? path : `${name.includes(':') ? `[${name}]` : name}:${number}`;
  const config = { ...configOf(options), database, connect };
  return new PostgresJsDriver(`postgres://${place}/${database}`, async () => config);
}

function configOf(options: ParsedOptions): Omit<PostgresJsConfig, 'connect'> {
  const { user, pass, ssl, connection, prepare, keep_alive, target_session_attrs } = options;
  // The options of the application's client, as postgres.js has parsed them. postgres.js accepts them in this
  // form, although its type declarations do not allow it.
  return {
    username: user,
    password: pass,
    ssl,
    connection,
    prepare,
    keep_alive,
    ...(target_session_attrs !== undefined && { target_session_attrs }),
  } as Omit<PostgresJsConfig, 'connect'>;
}
