import {
  inspectHandedIn,
  invalidArgument,
  requireMethods,
  type QueueLockError,
} from '@queuelock/core/backend';

const RULE =
  'is a pool of mysql2/promise (version 3), of mysql2 by pool.promise(), or of npm mariadb (version 3.5)';

const LEAST_CONNECTIONS = 2;

/**
 * Checks a pool from the caller without a request to the server.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the pool cannot be used
 */
export function checkPool(pool: object): void {
  inspectHandedIn('pool', () => {
    const has = (name: string): boolean => typeof Reflect.get(pool, name) === 'function';
    if (!has('getConnection') || has('promise')) throw invalidArgument('pool', pool, RULE);
    // Recognizes a pool of npm mysql by its method `acquireConnection`. The getConnection() of npm mysql
    // takes a callback, and a call without a callback throws only later.
    if (has('acquireConnection')) throw invalidArgument('pool', 'a pool of npm mysql', RULE);
    checkLimit(pool);
  });
}

function checkLimit({
  pool,
}: {
  readonly pool?: { readonly config?: { readonly connectionLimit?: unknown } };
}): void {
  const limit = pool?.config?.connectionLimit;
  if (typeof limit !== 'number' || limit >= LEAST_CONNECTIONS) return;
  const rule = `must be at least ${LEAST_CONNECTIONS}: as many are kept for steps and heartbeats`;
  throw invalidArgument('option connectionLimit of pool', limit, rule);
}

/** The methods of a pool's connection that this package calls. */
const METHODS = ['destroy', 'query', 'release'] as const;

/**
 * Checks that a connection of a pool has all methods that this package calls.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when a method is missing
 */
export function checkConnection(connection: unknown): void {
  requireMethods(connection, {
    argument: 'pool',
    methods: METHODS,
    what: 'a connection',
    rule: (missing) => `${RULE}, whose getConnection() resolves with a connection that has ${missing}()`,
  });
}

/** Returns the error for a pool whose methods take callbacks. */
export function refuseCallbacks(): QueueLockError {
  return invalidArgument('pool', 'a pool of mariadb/callback', RULE);
}
