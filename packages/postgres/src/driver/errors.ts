import { QueueLockError, failureOf, isQueueLockError } from '@queuelock/core/backend';

/** SQLSTATE codes for an absent function, schema or table. */
const MISSING: ReadonlySet<string> = new Set(['42883', '3F000', '42P01']);
/**
 * Error codes for conflicts between transactions: deadlock, serialization failure, lock timeout, and a key
 * that two clients insert at the same time.
 */
const CLASHES: ReadonlySet<string> = new Set(['40P01', '40001', '55P03', '23505']);
/**
 * Error codes of a server that accepts no writes or is shutting down. The connection must then be closed,
 * because a new connection to the same address may reach another server.
 */
const LEAVE: ReadonlySet<string> = new Set(['25006', '57P01', '57P02', '57P03', '57P05']);

/** Hints that error messages give to the operator, by SQLSTATE code. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['25006', 'this server is a replica, or default_transaction_read_only is on: use the primary'],
  ['53100', 'the disk of the server is full'],
  ['53200', 'the server has no memory left'],
  ['53300', 'the server has no connection left (max_connections)'],
  ['57014', 'statement_timeout ended it: allow this role or database at least 1 s for a statement'],
  ['57P03', 'the server is starting or stopping'],
]);

/**
 * Hints for errors whose SQLSTATE code has several causes, selected by patterns of the error message. They
 * take precedence over the hints for the code (`HINTS`).
 */
const TEXT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/too many connections for role/, 'raise its limit: alter role … connection limit'],
  [/too many connections for database/, 'raise its limit: alter database … connection limit'],
  [/out of shared memory/, 'max_locks_per_transaction of the server is too small for its sessions'],
  [
    /too many notifications in the NOTIFY queue/,
    'a session that listens is in a long transaction: end it (pg_stat_activity), then the queue of notifications empties',
  ],
];

/**
 * Returns the SQLSTATE of an error that the server reports, or an empty text for other errors. Codes that
 * begin with E, such as ECONNRESET, are from the operating system.
 */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : '';
}

export function isMissing(error: unknown): boolean {
  return MISSING.has(codeOf(error));
}

/**
 * Returns whether a step failed because of a conflict with another one. The failed step has changed nothing,
 * and a retry may succeed.
 */
export function isClash(error: unknown): boolean {
  return CLASHES.has(codeOf(error));
}

/** Returns whether a connection cannot be used any more after the given error. */
export function breaksConnection(error: unknown): boolean {
  const code = codeOf(error);
  return code === '' || LEAVE.has(code) || code.startsWith('08');
}

/**
 * Throws when the npm package of the client library cannot be loaded. The error is permanent, because another
 * attempt would find the same files.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function refuseWithoutLibrary(library: 'pg' | 'postgres', error: unknown): never {
  const other = library === 'pg' ? ', or pass a pool' : '';
  const message = `the npm package ${library} cannot be loaded (${failureOf(error)}): run npm install ${library} and let a bundler leave it out${other}`;
  throw new QueueLockError('INVALID_ARGUMENT', message, { cause: error });
}

/**
 * Converts an error of npm pg or postgres.js to a `QueueLockError`. The code is `UNAVAILABLE`, except when a
 * retry cannot succeed.
 */
export function asQueueLockError(
  error: unknown,
  { endpoint, schema = '' }: { readonly endpoint: string; readonly schema?: string },
): QueueLockError {
  if (isQueueLockError(error)) return error;
  const code = codeOf(error);
  const detail = failureOf(error);
  const options = { cause: error };
  if (code === 'QL001') {
    const message = `${endpoint}: ${detail}, and locks need read committed: run "alter role … set default_transaction_isolation = 'read committed'", or set it for the pool`;
    return new QueueLockError('INVALID_ARGUMENT', message, options);
  }
  if (code === '42501') {
    const message = `${endpoint} refuses: ${detail}; run "grant usage on schema ${schema} to …" and "grant select, insert, update, delete on all tables in schema ${schema} to …" as its owner`;
    return new QueueLockError('ACCESS_DENIED', message, options);
  }
  if (code.startsWith('28'))
    return new QueueLockError('ACCESS_DENIED', `${endpoint} refuses: ${detail}`, options);
  if (code === '3D000') return new QueueLockError('INVALID_ARGUMENT', `${endpoint}: ${detail}`, options);
  if (MISSING.has(code) || code.startsWith('42')) {
    const message = `${endpoint}: the schema ${schema} was not created by queuelock, or by another release of it (${detail}); nothing was changed: choose another schema`;
    return new QueueLockError('FOREIGN_FORMAT', message, options);
  }
  const hint = TEXT_HINTS.find(([pattern]) => pattern.test(detail))?.[1] ?? HINTS.get(code);
  const message = `${endpoint}: ${detail}${hint ? ` (${hint})` : ''}`;
  return new QueueLockError('UNAVAILABLE', message, { ...options, responded: code !== '' });
}
