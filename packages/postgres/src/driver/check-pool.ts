import { inspectHandedIn, invalidArgument, requireMethods } from '@queuelock/core/backend';
import type { PgPoolLike } from './pool-like.ts';

const RULE = 'is a Pool of npm pg (version 8), and not one of its clients';
/**
 * Minimum number of connections of a pool: the backend keeps one for notifications and heartbeats, and one
 * for steps.
 */
const LEAST_CONNECTIONS = 2;

/** The options of a pool that decide whether the pool is accepted. */
interface PoolOptions {
  readonly max?: unknown;
  readonly binary?: unknown;
}

/**
 * Checks a pool that the application passes, without a request to the server.
 * @throws {QueueLockError} `INVALID_ARGUMENT` with the name of the unsuitable option
 */
export function checkPool(pool: PgPoolLike): void {
  inspectHandedIn('pool', () => {
    if (typeof Reflect.get(pool, 'connect') !== 'function' || 'release' in pool || 'activeQuery' in pool)
      throw invalidArgument('pool', pool, RULE);
    checkOptions(pool.options ?? {});
  });
}

function checkOptions({ max, binary }: PoolOptions): void {
  if (typeof max === 'number' && max < LEAST_CONNECTIONS) {
    const rule = `must be at least ${LEAST_CONNECTIONS}: one connection listens and sends heartbeats, and another one is kept for steps`;
    throw invalidArgument('option max of pool', max, rule);
  }
  if (binary === true)
    throw invalidArgument('option binary of pool', binary, 'must be false: results are read as texts');
}

/** The methods of a pool's connection that this package calls. */
const METHODS = ['on', 'query', 'release', 'removeListener'] as const;

/**
 * Checks that a connection of a pool has all methods that this package calls.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when a method is missing
 */
export function checkConnection(client: unknown): void {
  requireMethods(client, {
    argument: 'pool',
    methods: METHODS,
    what: 'a client',
    rule: (missing) =>
      `is a Pool of npm pg (version 8), whose connect() resolves with a client that has ${missing}()`,
  });
}
