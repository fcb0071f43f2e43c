import { QueueLockError, failureOf, invalidArgument, isQueueLockError } from '@queuelock/core/backend';

// Error numbers of missing permissions; see
// https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html
const DENIED: ReadonlySet<number> = new Set([1044, 1045, 1142, 1143, 1227, 1370, 1698, 3118, 4151]);
/**
 * Numbers of errors after which a step has changed nothing and a retry may succeed: deadlock, lock wait timeout, concurrent change, duplicate key.
 */
const AGAIN: ReadonlySet<number> = new Set([1213, 1205, 1020, 1062]);
/**
 * Error numbers for an absent table, an absent procedure, and an absent row of `queuelock_meta`. Without that
 * row the order number of a new entry would be null, which the server refuses (1048).
 */
const ABSENT: ReadonlySet<number> = new Set([1146, 1305, 1048]);
const STATEMENT_LOG = 1665;
const UNKNOWN_DATABASE = 1049;
const NO_DATABASE = 1046;

/** Hints that error messages give to the operator, by the server's error number. */
const HINTS: ReadonlyMap<number, string> = new Map([
  [1040, 'it has no connection left (max_connections)'],
  [1114, 'the disk of the server is full'],
  [1129, 'it refuses this address after failed attempts: run flush hosts, and raise max_connect_errors'],
  [1203, 'this user has no connection left: raise max_user_connections'],
  [1226, 'this user has reached a limit of its account: raise it by alter user … with'],
  [1290, 'this server is a replica or read-only: use the primary'],
  [
    1568,
    'a connection of the pool is inside a transaction: commit before you return a connection to the pool',
  ],
  [1792, 'transaction_read_only (tx_read_only) is on: locks need transactions that write, so set it to OFF'],
  [1836, 'this server is read-only: use the primary'],
  [1969, 'max_statement_time ended it: allow this user at least 1 s for a statement'],
  [3024, 'max_execution_time ended it: allow this user at least 1 s for a statement'],
  [3159, 'require_secure_transport is on: use TLS (mysqls://)'],
]);
/** Matches the server's message for a write that it refuses because the storage engine is read-only. */
const ENGINE_READ_ONLY = /Table is read only|innodb_read_only/i;
const READ_ONLY: ReadonlySet<number> = new Set([1290, 1792, 1836]);

/**
 * Returns the error number if the server has reported an error. Returns `undefined` for any other failure,
 * after which the connection is unusable.
 */
export function numberOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || ('fatal' in error && error.fatal === true)) return undefined;
  if (!('sqlState' in error) || typeof error.sqlState !== 'string') return undefined;
  return 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined;
}

export function isWorthAgain(error: unknown): boolean {
  return AGAIN.has(numberOf(error) ?? 0);
}

/** Returns whether a table, a procedure, or the row that records their version is absent. */
export function isAbsence(error: unknown): boolean {
  return ABSENT.has(numberOf(error) ?? 0);
}

/**
 * Returns whether an error means that the server accepts no writes. The backend then replaces the connection,
 * because the address may now lead to another server.
 */
export function isReadOnly(error: unknown): boolean {
  return READ_ONLY.has(numberOf(error) ?? 0);
}

export function isDenial(error: unknown): boolean {
  return DENIED.has(errnoOf(error) ?? 0);
}

/**
 * Throws when the npm package of the client library cannot be loaded. The error is permanent, because another
 * attempt would find the same files.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function refuseWithoutLibrary(library: 'mysql2' | 'mariadb', error: unknown): never {
  const message = `the npm package ${library} cannot be loaded (${failureOf(error)}): run npm install ${library} and let a bundler leave it out, or pass a pool`;
  throw new QueueLockError('INVALID_ARGUMENT', message, { cause: error });
}

/**
 * Converts an error of npm mysql2 or npm mariadb to a `QueueLockError`. The code is `UNAVAILABLE`, except
 * when a retry cannot succeed.
 */
export function asQueueLockError(error: unknown, endpoint: string): QueueLockError {
  if (isQueueLockError(error)) return error;
  const detail = failureOf(error);
  const options = { cause: error };
  const errno = errnoOf(error) ?? 0;
  if (errno === UNKNOWN_DATABASE || errno === NO_DATABASE)
    return invalidArgument('database', endpoint, `names a database that exists (${detail})`);
  if (errno === STATEMENT_LOG) {
    const message = `${endpoint} cannot run a step, since binlog_format is STATEMENT: set MIXED or ROW (${detail})`;
    return new QueueLockError('INVALID_ARGUMENT', message, options);
  }
  if (isDenial(error)) {
    const message = `${endpoint} refuses: ${detail}; the user needs the rights select, insert, update, delete and execute on the database`;
    return new QueueLockError('ACCESS_DENIED', message, options);
  }
  const message = `${endpoint}: ${describe(error)}`;
  return new QueueLockError('UNAVAILABLE', message, { ...options, responded: isOfServer(errno) });
}

/** Returns the message of a failure, with a hint for the operator. */
export function describe(error: unknown): string {
  const detail = failureOf(error);
  const hint = ENGINE_READ_ONLY.test(detail)
    ? 'innodb_read_only or innodb_force_recovery is set: use the primary'
    : HINTS.get(errnoOf(error) ?? 0);
  return hint === undefined ? detail : `${detail} (${hint})`;
}

/**
 * Returns whether an error of this number is from the server. The client libraries number their own errors from
 * 2000 to 2999 and from 45000 on.
 */
function isOfServer(errno: number): boolean {
  return errno >= 1_000 && errno < 45_000 && (errno < 2_000 || errno >= 3_000);
}

/** Returns the number of an error of the server, also of an error that ends the connection, such as a refused password. */
function errnoOf(error: unknown): number | undefined {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number'
    ? error.errno
    : undefined;
}
