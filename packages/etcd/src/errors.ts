import { QueueLockError, isQueueLockError } from '@queuelock/core/backend';
import {
  ClientClosedError,
  EtcdAuthenticationFailedError,
  EtcdInvalidAuthTokenError,
  EtcdLeaseInvalidError,
  EtcdPermissionDeniedError,
  GRPCUnauthenticatedError,
  castGrpcError,
} from 'etcd3';

/** Where and at what a request failed, for the message. */
export interface Attempt {
  /** As a phrase: `entering queue "jobs"`. */
  readonly what: string;
  /** `host:port` */
  readonly host: string;
}

// Matched by text, as etcd3 itself does: these reach it as plain gRPC codes that also mean other things.
const ACCESS = /user name is empty|user name not found|authentication is not enabled/;
const LEASE_GONE = /requested lease not found/;
const DATABASE_FULL = /database space exceeded/;

/**
 * Sorts what etcd3 rejects with into the codes of queuelock. Everything that is not surely an answer of the server about
 * the lease or the permission is `UNAVAILABLE`: the request may have been carried out.
 */
export function classify(error: unknown, { what, host }: Attempt): QueueLockError {
  if (isQueueLockError(error)) return error;
  const cast = castGrpcError(error instanceof Error ? error : new Error(String(error)));
  const options = { cause: error };
  if (isLeaseGone(cast))
    return new QueueLockError('SESSION_LOST', `${what}: etcd knows the lease no more`, options);
  if (cast instanceof ClientClosedError)
    return new QueueLockError('CLOSED', `${what}: the client was closed`, options);
  if (isRefused(cast))
    return new QueueLockError('ACCESS_DENIED', `etcd at ${host} refuses ${what}: ${explain(cast)}`, options);
  return new QueueLockError('UNAVAILABLE', `${what} at etcd ${host} failed: ${explain(cast)}`, options);
}

/** Whether the server answered that the authentication token is none of its own, as after its restart. */
export function isTokenForgotten(error: unknown): boolean {
  return error instanceof Error && castGrpcError(error) instanceof EtcdInvalidAuthTokenError;
}

function isLeaseGone(error: Error): boolean {
  return error instanceof EtcdLeaseInvalidError || LEASE_GONE.test(error.message);
}

function isRefused(error: Error): boolean {
  return (
    error instanceof EtcdPermissionDeniedError ||
    error instanceof EtcdAuthenticationFailedError ||
    error instanceof GRPCUnauthenticatedError ||
    ACCESS.test(error.message)
  );
}

function explain({ message }: Error): string {
  const line = message
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replace(/ Resolution note:$/, '');
  if (!DATABASE_FULL.test(line)) return line;
  return `${line}. Free space (compact, defragment) and disarm the alarm; releases still work meanwhile`;
}
