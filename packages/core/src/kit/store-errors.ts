/** Functions that create the errors of all stores whose sessions and entries have ids. */
import { QueueLockError, detailOf } from '../api/errors.ts';

/** Creates a `SESSION_LOST`: the store has ended the session. */
export function sessionLost(id: string): QueueLockError {
  return new QueueLockError('SESSION_LOST', `session ${id} has ended`);
}

/** Creates an `ENTRY_LOST`: the entry was removed, and no request in flight will restore it. */
export function entryLost(id: string): QueueLockError {
  return new QueueLockError('ENTRY_LOST', `the entry ${id} is not in the queue and will not be`);
}

/** Creates a `CLOSED`: the backend was closed, or the session was abandoned. */
export function connectionClosed(endpoint: string): QueueLockError {
  return new QueueLockError('CLOSED', `this connection to ${endpoint} was closed`);
}

/**
 * Returns the message of a client library's error, without a code of queuelock at its start. An aggregate error of several addresses has no message
 * of its own, so the messages of its parts are returned.
 */
export function failureOf(error: unknown): string {
  const detail = detailOf(error);
  if (detail !== '') return detail;
  if (error instanceof AggregateError) return error.errors.map((each) => detailOf(each)).join('; ');
  return error instanceof Error ? error.name : 'unknown failure';
}
