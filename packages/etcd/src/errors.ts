import { QueueLockError, isQueueLockError } from '@queuelock/core/backend';
import { statusOf } from './grpc-status.ts';

/** Where and at what a request failed, for the message. */
export interface Attempt {
  /** As a phrase: `entering queue "jobs"`. */
  readonly what: string;
  /** `host:port` */
  readonly host: string;
}

// Matched by text first: the server sends most of these with statuses that also mean other things.
const LEASE_GONE = /requested lease not found/;
const TOKEN_FORGOTTEN = /etcdserver: (invalid auth token|revision of auth store is old)/;
const REFUSED =
  /etcdserver: (permission denied|authentication failed)|user name is empty|user name not found|authentication is not enabled/;
const CLOSED = /the client was already closed$/;
const DATABASE_FULL = /database space exceeded/;

/**
 * Sorts what a driver rejects with into the codes of queuelock. Everything that is not surely an answer of the server about
 * the lease or the permission is `UNAVAILABLE`: the request may have been carried out.
 */
export function classify(error: unknown, { what, host }: Attempt): QueueLockError {
  if (isQueueLockError(error)) return error;
  const failure = error instanceof Error ? error : new Error(String(error));
  const options = { cause: error };
  if (LEASE_GONE.test(failure.message))
    return new QueueLockError('SESSION_LOST', `${what}: etcd knows the lease no more`, options);
  if (CLOSED.test(failure.message))
    return new QueueLockError('CLOSED', `${what}: the client was closed`, options);
  if (isRefused(failure))
    return new QueueLockError(
      'ACCESS_DENIED',
      `etcd at ${host} refuses ${what}: ${explain(failure)}`,
      options,
    );
  return new QueueLockError('UNAVAILABLE', `${what} at etcd ${host} failed: ${explain(failure)}`, options);
}

/** What a driver rejects with from its end on. */
export function clientClosed(): Error {
  return new Error('the client was already closed');
}

/** Whether the server answered that the authentication token is none of its own, as after its restart, or out of date. */
export function isTokenForgotten(error: unknown): boolean {
  return error instanceof Error && TOKEN_FORGOTTEN.test(error.message);
}

function isRefused(error: Error): boolean {
  if (REFUSED.test(error.message)) return true;
  // A token that is out of date has the status of one who may not, and is renewed.
  if (isTokenForgotten(error)) return false;
  const status = statusOf(error);
  return status === 'PERMISSION_DENIED' || status === 'UNAUTHENTICATED';
}

function explain({ message }: Error): string {
  const line = message
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replace(/ Resolution note:$/, '');
  if (!DATABASE_FULL.test(line)) return line;
  return `${line}. Free space (compact, defragment) and disarm the alarm; releases still work meanwhile`;
}
