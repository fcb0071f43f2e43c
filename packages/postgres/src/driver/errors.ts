import { QueueLockError, failureOf, isQueueLockError } from '@queuelock/core/backend';

/** What is not there: a function, a schema, a table. */
const MISSING: ReadonlySet<string> = new Set(['42883', '3F000', '42P01']);
/** Two steps were in each other's way: deadlock, serialization, a lock that was not given in time, one key made twice at a time. */
const CLASHES: ReadonlySet<string> = new Set(['40P01', '40001', '55P03', '23505']);
/** The connection leads to a server that takes no writes, or goes down. */
const LEAVE: ReadonlySet<string> = new Set(['25006', '57P01', '57P02', '57P03', '57P05']);

/** What somebody may do about it. */
const HINTS: ReadonlyMap<string, string> = new Map([
  [
    '25006',
    'this server is a replica, or default_transaction_read_only is on: locks are made on the primary',
  ],
  ['53100', 'the disk of the server is full'],
  ['53200', 'the server has no memory left'],
  ['53300', 'the server has no connection left (max_connections)'],
  ['57P03', 'the server is starting or stopping'],
]);

/** Of errors of the server. None of its codes begins with E, as all of the system's do. */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : '';
}

export function isMissing(error: unknown): boolean {
  return MISSING.has(codeOf(error));
}

/** Nothing was done, and another try may do it. */
export function isClash(error: unknown): boolean {
  return CLASHES.has(codeOf(error));
}

/** Whether the connection is of no use after that. */
export function breaksConnection(error: unknown): boolean {
  const code = codeOf(error);
  return code === '' || LEAVE.has(code) || code.startsWith('08');
}

/** An error of the client library as one of ours: definite where trying again is no use. */
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
    const message = `${endpoint}: the schema ${schema} is not of queuelock, or of another release of it (${detail}); it is left as it is: choose another schema`;
    return new QueueLockError('FOREIGN_FORMAT', message, options);
  }
  const hint = HINTS.get(code);
  return new QueueLockError('UNAVAILABLE', `${endpoint}: ${detail}${hint ? ` (${hint})` : ''}`, options);
}
