/** What a store that keeps sessions and entries by their ids has to say. */
import { QueueLockError, detailOf } from '../api/errors.ts';

/** `SESSION_LOST`: the store has ended the session. */
export function sessionLost(id: string): QueueLockError {
  return new QueueLockError('SESSION_LOST', `session ${id} has ended`);
}

/** `ENTRY_LOST`: it was removed, and whatever is still on its way does not bring it back. */
export function entryLost(id: string): QueueLockError {
  return new QueueLockError('ENTRY_LOST', `the entry ${id} is not in the queue and will not be`);
}

/** `CLOSED`: the backend was closed, or the session abandoned. */
export function connectionClosed(endpoint: string): QueueLockError {
  return new QueueLockError('CLOSED', `this connection to ${endpoint} was closed`);
}

/** What an error of a client library says, without a code of ours; those of several addresses have no message of their own. */
export function failureOf(error: unknown): string {
  const detail = detailOf(error);
  if (detail !== '') return detail;
  if (error instanceof AggregateError) return error.errors.map((each) => detailOf(each)).join('; ');
  return error instanceof Error ? error.name : 'unknown failure';
}
