import { QueueLockError, isQueueLockError } from '@queuelock/core/backend';
import { statusOf } from './grpc-status.ts';
import { OWN_DIRECTORY } from '../queue/keys.ts';

/** Where and at what a request failed, for the message. */
export interface Attempt {
  /** As a phrase: `entering queue "jobs"`. */
  readonly what: string;
  /** `host:port` */
  readonly host: string;
  /** Whether TLS was spoken. */
  readonly tls?: boolean;
  /** What the keys begin with. */
  readonly prefix?: string;
}

// Matched by text first: the server sends most of these with statuses that also mean other things.
const LEASE_GONE = /requested lease not found/;
const TOKEN_FORGOTTEN = /etcdserver: (invalid auth token|revision of auth store is old)/;
const REFUSED =
  /etcdserver: (permission denied|authentication failed)|user name is empty|user name not found|authentication is not enabled/;
// A page of a load balancer, which may lead to a member again soon.
const PAGE = /HTTP status/;
const NO_PERMISSION = /etcdserver: permission denied/;
const CLOSED = /the client was already closed$/;
const DATABASE_FULL = /database space exceeded/;

/** What helps where the driver's own words do not. */
const REMEDIES: readonly (readonly [failure: RegExp, remedy: string])[] = [
  [
    /wrong version number|packet length too long|disconnected before secure TLS/,
    'the member does not seem to speak TLS',
  ],
  [
    /alert (bad certificate|certificate required|handshake failure|unknown ca)/,
    'the member wants a certificate that it trusts: credentials.certChain and credentials.privateKey',
  ],
  [
    /unable to verify|self.signed certificate|unable to get (local )?issuer/,
    'the certificate of the member is of no authority that is known here: credentials.rootCertificate',
  ],
  [
    /too many operations in txn request/,
    'the server was started with a small --max-txn-ops: its default is 128, and no lock works with less than 2',
  ],
];
const CLOSED_AT_ONCE = /Last error: Failed to connect|closed before HTTP\/2 began/;
const WANTS_TLS =
  'the member closed the connection before HTTP/2 began, as one does that expects TLS: https:// in hosts, or an etcds:// URL';

/**
 * Sorts what a driver rejects with into the codes of queuelock. What the server would answer to the same request again and again is
 * final. Everything that is not surely such an answer is `UNAVAILABLE`: the request may have been carried out.
 */
export function classify(error: unknown, attempt: Attempt): QueueLockError {
  const { what, host } = attempt;
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
      `etcd at ${host} refuses ${what}: ${explain(failure)}${needed(failure, attempt)}`,
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
    options,
  );
}

/** Whether the member refused user and password, so that the call has done nothing. */
export function isLogInRefused(error: unknown): error is Error {
  return error instanceof Error && error.message.includes('etcdserver: authentication failed');
}

/** What a driver rejects with from its end on. */
export function clientClosed(): Error {
  return new Error('the client was already closed');
}

/** Whether the server answered that the authentication token is none of its own, as after its restart, or out of date. */
export function isTokenForgotten(error: unknown): boolean {
  return error instanceof Error && tellsOfToken(error.message);
}

/** The same of what a server has said. */
export function tellsOfToken(details: string): boolean {
  return TOKEN_FORGOTTEN.test(details);
}

function isRefused(error: Error): boolean {
  if (REFUSED.test(error.message)) return true;
  // A token that is out of date has the status of one who may not, and is renewed.
  if (isTokenForgotten(error)) return false;
  const status = statusOf(error);
  return status === 'PERMISSION_DENIED' || status === 'UNAUTHENTICATED';
}

/** Whether the server does not take such a request, whichever member is asked: it is too large, or it knows no such call. */
function isImpossible(error: Error): boolean {
  if (isTokenForgotten(error) || PAGE.test(error.message)) return false;
  const status = statusOf(error);
  return status === 'INVALID_ARGUMENT' || status === 'UNIMPLEMENTED';
}

/** The right to do something is given for ranges of keys, of which a queue has two. */
function needed({ message }: Error, { prefix = '' }: Attempt): string {
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

/** Whether the server has refused an entry, or somebody has removed it. */
export function isRefusal(error: unknown): boolean {
  return (['ENTRY_LOST', 'ACCESS_DENIED', 'INVALID_ARGUMENT'] as const).some((code) =>
    isQueueLockError(error, code),
  );
}
