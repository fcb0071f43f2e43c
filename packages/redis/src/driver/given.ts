import { invalidArgument } from '@queuelock/core/backend';
import type { Driver } from './driver.ts';
import { IoRedisDriver, type IoRedis } from './ioredis-driver.ts';
import { NodeRedisDriver, type ClientOptions, type MakeClient } from './node-redis-driver.ts';

/** A client of npm redis or a connection of ioredis: both can be duplicated. */
export interface Given {
  /** Another connection of the same kind, to the same server. */
  duplicate(overrides?: object): unknown;
  readonly options?: object;
}

type Member = 'duplicate' | 'sendCommand' | 'call' | 'connect' | 'isCluster';

const RULE =
  'is a client of npm redis or a connection of ioredis, to one server: all keys are in one slot, so of a cluster give a connection to the node that has it';

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function givenDriver(client: Given): Driver {
  const member = (name: Member): unknown => Reflect.get(client, name);
  const isOne = (['duplicate', 'sendCommand', 'connect'] as const).every(
    (name) => typeof member(name) === 'function',
  );
  if (!isOne || member('isCluster') === true || 'slots' in client || 'getMasterNode' in client)
    throw invalidArgument('client', client, RULE);
  const options: Shown = client.options ?? {};
  if (typeof member('call') === 'function')
    return new IoRedisDriver(endpointOf(options, options.db), client as unknown as IoRedis);
  // A client of npm redis is made anew with its options, of which ours replace some.
  const make = (overrides: ClientOptions): unknown => client.duplicate(overrides);
  const endpoint = endpointOf({ ...options, ...options.socket }, options.database);
  return new NodeRedisDriver(endpoint, client.options ?? {}, make as MakeClient);
}

/** As much of the options of both as tells where they lead to. */
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
