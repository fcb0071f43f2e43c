import { checkClient } from './check-client.ts';
import type { RedisClientLike } from './client-like.ts';
import type { Driver } from './driver.ts';
import { IoRedisDriver, type IoRedis } from './ioredis-driver.ts';
import { NodeRedisDriver, type ClientOverrides, type MakeClient } from './node-redis-driver.ts';
import { ProvenDriver } from './proven-driver.ts';

/**
 * Creates the driver for the client that the caller has passed.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the client cannot be used
 */
export function givenDriver(client: RedisClientLike): Driver {
  const library = checkClient(client);
  const options: Shown = client.options ?? {};
  if (library === 'ioredis')
    return new ProvenDriver(new IoRedisDriver(endpointOf(options, options.db), client as unknown as IoRedis));
  // npm redis: duplicate() keeps the options of the client, except those that the driver overrides.
  const make = (overrides: ClientOverrides): unknown => client.duplicate(overrides);
  const endpoint = endpointOf({ ...options, ...options.socket }, options.database);
  return new ProvenDriver(new NodeRedisDriver(endpoint, () => client.options ?? {}, make as MakeClient));
}

/** Options of npm redis and ioredis that contain the server's address. */
interface Shown {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly tls?: unknown;
  readonly db?: number;
  readonly database?: number;
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly name?: string;
  readonly sentinels?: unknown;
}

function endpointOf({ host = '127.0.0.1', port = 6379, path, tls, ...more }: Shown, database = 0): string {
  const scheme = tls ? 'rediss' : 'redis';
  const place = database === 0 ? '' : `/${database}`;
  if (more.sentinels) return `${scheme}://${more.name ?? 'mymaster'}${place}`;
  if (path !== undefined) return `${scheme}:${path}`;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${place}`;
}
