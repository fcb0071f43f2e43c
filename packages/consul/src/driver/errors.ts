import { QueueLockError, failureOf, isQueueLockError } from '@queuelock/core/backend';

/** An HTTP response that reports a failure. */
export interface Refusal {
  readonly status: number;
  readonly body: string;
}

const DENIED = /permission denied|acl not found|acl support disabled/i;
const NO_SESSION = /invalid session|session id .* not found/i;

/** Patterns for the text of a response, each with the advice to the operator when it matches. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/no cluster leader/i, 'the cluster elects a leader, or most of its servers are down'],
  [
    /too many concurrent/i,
    'the agent limits connections per client address: raise limits.http_max_conns_per_client',
  ],
  [/^429\b/, 'the agent limits the rate of requests: raise limits.rpc_rate or limits.request_limits'],
  [/missing node registration/i, 'the option node names no node of the catalog'],
];

/** Patterns for responses that refuse an option of Consul Enterprise, each with that option. */
const FEATURES: readonly (readonly [RegExp, string])[] = [
  [/query parameter: "ns"|namespaces are a consul enterprise/i, 'the option namespace'],
  [/query parameter: "partition"|partitions are a consul enterprise/i, 'the option partition'],
];
/**
 * Patterns for responses with which an agent refuses requests because of a setting, each with the advice how
 * to change that setting. With such a setting, clients cannot acquire locks.
 */
const SETTINGS: readonly (readonly [RegExp, string])[] = [
  [
    /endpoint is blocked by agent configuration/i,
    'take /v1/session, /v1/kv and /v1/txn out of http_config.block_endpoints',
  ],
  [/access is restricted/i, 'add the address of this client to http_config.allow_write_http_from'],
  [/value for key .* is too large/i, 'raise limits.kv_max_value_size, which is 512 KiB by default'],
  [/request body.* too large/i, 'raise limits.txn_max_req_len and limits.kv_max_value_size'],
];
/** HTTP statuses with which a proxy reports that the agent behind it does not respond. */
const FROM_PROXIES: ReadonlySet<number> = new Set([502, 503, 504]);
/**
 * Text of Node's error when an agent closes a connection without a response. Agents do so when an address has
 * too many connections.
 */
const CLOSED_AT_ONCE = /socket hang up|ECONNRESET/;

/** Returns whether the text of a response reports that the token lacks a permission. */
export function isDenied(text: string): boolean {
  return DENIED.test(text);
}

/** Returns whether the text of a transaction's error reports that the session does not exist. */
export function isNoSession(text: string): boolean {
  return NO_SESSION.test(text);
}

/** Converts a response that reports a failure to a `QueueLockError`. */
export function errorOf({ status, body }: Refusal, endpoint: string): QueueLockError {
  const detail = `HTTP ${status}${body === '' ? '' : `: ${body.trim().slice(0, 500)}`}`;
  const setting = SETTINGS.find(([pattern]) => pattern.test(body))?.[1];
  if (setting !== undefined && status >= 400 && status < 500)
    return new QueueLockError(
      'INVALID_ARGUMENT',
      `${endpoint} cannot do it as it is set: ${detail}: ${setting}`,
    );
  if (status === 401 || status === 403 || isDenied(body)) {
    const needs = 'the token needs session:write on the node and key:write on the prefix';
    return new QueueLockError('ACCESS_DENIED', `${endpoint} refuses: ${detail}; ${needs}`);
  }
  if (/invalid session ttl/i.test(body)) {
    const rule = 'is within the limits of the servers (session_ttl_min)';
    return new QueueLockError('INVALID_ARGUMENT', `ttlMs ${rule}: ${detail}`);
  }
  const feature = FEATURES.find(([pattern]) => pattern.test(body))?.[1];
  if (status === 400 && feature !== undefined) {
    const rule = `${feature} requires servers that support it, and these do not`;
    return new QueueLockError('INVALID_ARGUMENT', `${rule}: ${endpoint}: ${detail}`);
  }
  const hint = HINTS.find(([pattern]) => pattern.test(`${status} ${body}`))?.[1];
  const responded = !FROM_PROXIES.has(status);
  return new QueueLockError('UNAVAILABLE', `${endpoint}: ${detail}${hint ? ` (${hint})` : ''}`, {
    responded,
  });
}

/**
 * Converts an error of a connection to a `QueueLockError` with the code `UNAVAILABLE`, because the outcome of
 * the request is unknown.
 */
export function asUnavailable(error: unknown, endpoint: string): QueueLockError {
  if (isQueueLockError(error)) return error;
  const failure = failureOf(error);
  const hint = CLOSED_AT_ONCE.test(failure)
    ? ' (the agent may have too many connections of this address: http_max_conns_per_client)'
    : '';
  return new QueueLockError('UNAVAILABLE', `${endpoint}: ${failure}${hint}`, { cause: error });
}
