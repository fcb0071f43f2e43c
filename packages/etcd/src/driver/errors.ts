import { QueueLockError, isQueueLockError } from '@queuelock/core/backend';
import { statusOf } from './grpc-status.ts';
import { OWN_DIRECTORY } from '../queue/keys.ts';

/** The data of a failed request that the error's message contains, such as its purpose and the address of the member. */
export interface Attempt {
  /** What the client was doing, such as `entering queue "jobs"`. */
  readonly what: string;
  /** The address of the member that got the request, as `host:port`. */
  readonly host: string;
  /** Whether the client used TLS for the failed request. */
  readonly tls?: boolean;
  /** The option `prefix` of the backend: all its keys begin with it. */
  readonly prefix?: string;
}

// An error whose text matches one of the next patterns is classified by that text. Its gRPC status is not used, because most of these errors have a
// status that also has other meanings.
const LEASE_MISSING = /requested lease not found/;
const TOKEN_OUTDATED = /etcdserver: (invalid auth token|revision of auth store is old)/;
const REFUSED =
  /etcdserver: (permission denied|authentication failed)|user name is empty|user name not found|authentication is not enabled/;
// Matches the error for a response that is a web page, as a load balancer sends it. The request is repeated, because the load balancer may reach a
// member again soon.
const PAGE = /HTTP status/;
// Matches the status of a proxy that limits the size of requests. No repetition helps, in contrast to other pages.
const TOO_LARGE_FOR_PROXY = /HTTP status (code )?413/;
const NO_PERMISSION = /etcdserver: permission denied/;
const CLOSED = /the client was already closed$/;
// Matches the errors that a member itself has sent, as opposed to errors of the connection.
const OF_A_MEMBER = /etcdserver: /;
const DATABASE_FULL = /database space exceeded/;

/** Texts that tell a user how to remedy a failure whose own message does not. */
const REMEDIES: readonly (readonly [failure: RegExp, remedy: string])[] = [
  [
    /wrong version number|packet length too long|disconnected before secure TLS/,
    'the member does not seem to speak TLS',
  ],
  [
    // A text, such as the start of an HTTP/1.1 response, announces a frame of 2 to 8 million bytes if it is read as HTTP/2.
    /a frame of [2-8]\d{6} bytes|a first frame that/,
    'the server at this address does not seem to speak HTTP/2',
  ],
  [
    /alert (bad certificate|certificate required|handshake failure|unknown ca)/,
    'the member requires a certificate that it trusts: credentials.certChain and credentials.privateKey, or cert and key of the URL',
  ],
  [
    /unable to verify|self.signed certificate|unable to get (local )?issuer/,
    'the certificate of the member was issued by an unknown authority: credentials.rootCertificate, or ca of the URL',
  ],
  [
    /too many operations in txn request/,
    'the server was started with a small --max-txn-ops: its default is 128, and no lock works with less than 2',
  ],
  [
    /request is too large/,
    'it exceeds --max-request-bytes of the server, which is 1572864 by default: raise it, or store less with the entry',
  ],
  [
    TOO_LARGE_FOR_PROXY,
    'it exceeds the limit of a proxy, in nginx client_max_body_size: raise it, or store less with the entry',
  ],
  [
    /etcdserver: (no leader|leader changed|request timed out)/,
    'most members of the cluster must run and reach each other',
  ],
  [/etcdserver: too many requests/, 'the cluster is slower than its load: check the disks of its members'],
];
const CLOSED_AT_ONCE = /Last error: Failed to connect|closed before HTTP\/2 began/;
const WANTS_TLS =
  'the member closed the connection before HTTP/2 began, as a member that expects TLS does: https:// in hosts, or an etcds:// URL';

/**
 * Converts an error of a driver to a `QueueLockError`. If every member would return the error again for the
 * same request, the code names the cause. Otherwise the code is `UNAVAILABLE`, since the member may have
 * carried out the request.
 */
export function classify(error: unknown, attempt: Attempt): QueueLockError {
  const { what, host } = attempt;
  if (isQueueLockError(error)) return error;
  const failure = error instanceof Error ? error : new Error(String(error));
  const options = { cause: error };
  if (LEASE_MISSING.test(failure.message))
    return new QueueLockError('SESSION_LOST', `${what}: the etcd lease expired or was revoked`, options);
  if (CLOSED.test(failure.message))
    return new QueueLockError('CLOSED', `${what}: the client was closed`, options);
  if (isRefused(failure))
    return new QueueLockError(
      'ACCESS_DENIED',
      `etcd at ${host} refuses ${what}: ${explain(failure)}${requiredPermissions(failure, attempt)}`,
      options,
    );
  if (isImpossible(failure))
    return new QueueLockError(
      'INVALID_ARGUMENT',
      `etcd at ${host} cannot do ${what}: ${explain(failure)}${remedyFor(failure, attempt)}`,
      options,
    );
  return new QueueLockError(
    'UNAVAILABLE',
    `${what} at etcd ${host} failed: ${explain(failure)}${remedyFor(failure, attempt)}`,
    { ...options, responded: OF_A_MEMBER.test(failure.message) },
  );
}

/** Returns whether a member refused the log-in because of the user or the password. The call that needed the log-in has had no effect. */
export function isLogInRefused(error: unknown): error is Error {
  return error instanceof Error && error.message.includes('etcdserver: authentication failed');
}

/** Returns the error with which all calls reject after their driver was closed. */
export function clientClosed(): Error {
  return new Error('the client was already closed');
}

/** Returns whether the error means that the server does not know the authentication token, as after a restart, or considers it outdated. */
export function isTokenOutdated(error: unknown): boolean {
  return error instanceof Error && isTokenError(error.message);
}

/** Returns whether the details of a gRPC status mean that the authentication token is unknown or outdated. */
export function isTokenError(details: string): boolean {
  return TOKEN_OUTDATED.test(details);
}

function isRefused(error: Error): boolean {
  if (REFUSED.test(error.message)) return true;
  // An outdated authentication token is no refusal, because a new log-in helps. etcd reports it with the same status as a missing permission.
  if (isTokenOutdated(error)) return false;
  const status = statusOf(error);
  return status === 'PERMISSION_DENIED' || status === 'UNAUTHENTICATED';
}

/** Returns whether the error means that every member would refuse the request: it is too large, or the server has no such call. */
function isImpossible(error: Error): boolean {
  if (TOO_LARGE_FOR_PROXY.test(error.message)) return true;
  if (isTokenOutdated(error) || PAGE.test(error.message)) return false;
  const status = statusOf(error);
  return status === 'INVALID_ARGUMENT' || status === 'UNIMPLEMENTED';
}

/** Returns the key ranges for which the user needs permissions, as text for an error. A queue has keys in two ranges. */
function requiredPermissions({ message }: Error, { prefix = '' }: Attempt): string {
  if (!NO_PERMISSION.test(message)) return '';
  const [queue, own] = [`${prefix}NAME/`, `${prefix}${OWN_DIRECTORY}/`].map((keys) => JSON.stringify(keys));
  return `. The user needs read and write permission on all keys below ${queue}, NAME being the queue, and on all below ${own}`;
}

function remedyFor({ message }: Error, { tls }: Attempt): string {
  const remedy =
    tls === false && CLOSED_AT_ONCE.test(message)
      ? WANTS_TLS
      : REMEDIES.find(([failure]) => failure.test(message))?.[1];
  return remedy === undefined ? '' : ` (${remedy})`;
}

function explain({ message }: Error): string {
  const line = message
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replace(/ Resolution note:$/, '');
  if (!DATABASE_FULL.test(line)) return line;
  return `${line}. Free space (compact, defragment) and disarm the alarm; releases still work meanwhile`;
}

/** Returns whether the error means that the server refused an entry, or that another client removed it. */
export function isRefusal(error: unknown): boolean {
  return (['ENTRY_LOST', 'ACCESS_DENIED', 'INVALID_ARGUMENT'] as const).some((code) =>
    isQueueLockError(error, code),
  );
}
