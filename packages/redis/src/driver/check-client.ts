import { inspectHandedIn, invalidArgument } from '@queuelock/core/backend';
import type { RedisClientLike } from './client-like.ts';
import { RULE, checkMethods, type ClientLibrary } from './check-methods.ts';

/**
 * Checks the client that the caller has passed, without a request to the server. Checks the kind, the version, the methods, and the options
 * that decide which data the client reads and writes. The duplicates of the client override all other options that could disturb the
 * backend.
 * @throws {QueueLockError} `INVALID_ARGUMENT`, naming the option
 */
export function checkClient(client: RedisClientLike): ClientLibrary {
  return inspectHandedIn('client', () => {
    checkKind(client);
    const library = libraryOf(client);
    checkMethods(client, library);
    checkOptions(client, library);
    return library;
  });
}

function checkKind(client: object): void {
  if ('getMasterNode' in client) {
    const rule =
      'is not a Sentinel client of npm redis: pass a connection of ioredis with the options sentinels and name';
    throw invalidArgument('client', client, rule);
  }
  if ('slots' in client || Reflect.get(client, 'isCluster') === true) {
    const rule = `${RULE} to one server, not a cluster client: all keys are in one slot, so pass a connection to any node, and redirects are followed`;
    throw invalidArgument('client', client, rule);
  }
}

function libraryOf(client: object): ClientLibrary {
  const isIoRedis = typeof Reflect.get(client, 'call') === 'function';
  if (!isIoRedis && typeof Reflect.get(client, 'sendCommand') !== 'function')
    throw invalidArgument('client', client, RULE);
  return isIoRedis ? 'ioredis' : 'redis';
}

/** Options of npm redis and ioredis that decide which keys, database and kind of server a client uses. */
interface DataOptions {
  readonly keyPrefix?: string | Buffer | null;
  readonly db?: unknown;
  readonly role?: unknown;
  /** An option that only ioredis 4 has, so its presence identifies ioredis 4, which is refused. */
  readonly dropBufferSupport?: unknown;
}

function checkOptions(client: RedisClientLike, library: ClientLibrary): void {
  const options: DataOptions = client.options ?? {};
  checkKeyPrefix(options.keyPrefix);
  if (library !== 'ioredis') return;
  if ('dropBufferSupport' in options) throw invalidArgument('client', 'a connection of ioredis 4', RULE);
  if (options.role === 'slave') {
    const rule = 'must be "master": use the primary, since a replica refuses each step';
    throw invalidArgument('option role of client', options.role, rule);
  }
  checkDatabase(client, Number(options.db ?? 0));
}

/**
 * Refuses a client with a key prefix, which can be neither applied nor ignored. With the prefix, the client would use other keys than a program that
 * connects to the same server by URL.
 */
function checkKeyPrefix(keyPrefix: DataOptions['keyPrefix']): void {
  const found = String(keyPrefix ?? '');
  if (found === '') return;
  const rule =
    "must be empty: programs with different key prefixes would share one queue. Pass client.duplicate({ keyPrefix: '' }), separate programs by the option prefix of redis(), and return whole keys from singleKey";
  throw invalidArgument('option keyPrefix of client', found, rule);
}

/** Refuses a connection whose `select()` chose another database than its options, since its duplicates would use the database of the options. */
function checkDatabase(client: object, database: number): void {
  const condition: unknown = Reflect.get(client, 'condition');
  const selected: unknown =
    typeof condition === 'object' && condition !== null ? Reflect.get(condition, 'select') : undefined;
  if (typeof selected !== 'number' || selected === database) return;
  const rule = `must be ${selected}, the database that select() has chosen for this connection: create the connection with { db: ${selected} }`;
  throw invalidArgument('option db of client', database, rule);
}
