import { inJson } from '../base/jsonable.ts';
import { quote, toPrintable } from '../base/printable.ts';
import type { Eviction } from './queue-api.ts';

/**
 * Error codes, one for each case that a caller may handle differently.
 *
 * - `INVALID_ARGUMENT`: the call can never succeed as written; the message names argument, value and rule.
 * - `TIMEOUT`: the wait ended before the lock was granted, because other clients hold it or are ahead; the entry was withdrawn. An outage never
 *   causes it.
 * - `WORK_TIMEOUT`: the work of a `run` exceeded `workTimeoutMs`, its `stop` aborted, and it ended with an error. It may have had effects.
 * - `REENTRANT`: the calling async context already holds this name, and the requested permits do not fit into the limit; waiting would never end.
 * - `CLOSED`: the client is closed or closing. With a `cause`: the work of a `run` had begun and threw when its `stop` aborted, so it may have had effects.
 * - `UNAVAILABLE`: the server was unreachable or its response was lost, possibly until `timeoutMs` expired; the outcome of the call is unknown.
 * - `ACCESS_DENIED`: the server refused the credentials or the permission.
 * - `SESSION_LOST`: the session has certainly ended, and with it all its entries.
 * - `ENTRY_LOST`: another client removed this entry from the queue; it will certainly not return.
 * - `OWNERSHIP_LOST`: the lock was held and is no longer held; `reason` gives the cause. The work under the lock may have had effects.
 * - `NOT_ENOUGH_TIME`: less time is proven for the hold than was requested; nothing was started.
 * - `QUEUE_FULL`, `WAIT_TOO_LONG`: the queue exceeds the caller's `maxWaiters` or `maxExpectedWaitMs`; the entry was withdrawn.
 * - `LIMIT_MISMATCH`: an entry ahead uses the name with a different limit, so together they could exceed a limit.
 * - `FOREIGN_FORMAT`: the queue has entries in a key format that does not exclude the entries of this client; the message names the remedy.
 * - `DEADLOCK`: the caller was chosen to break a circle of waiters; release what is held and retry.
 */
export type QueueLockErrorCode =
  | 'INVALID_ARGUMENT'
  | 'TIMEOUT'
  | 'WORK_TIMEOUT'
  | 'REENTRANT'
  | 'CLOSED'
  | 'UNAVAILABLE'
  | 'ACCESS_DENIED'
  | 'SESSION_LOST'
  | 'ENTRY_LOST'
  | 'OWNERSHIP_LOST'
  | 'NOT_ENOUGH_TIME'
  | 'QUEUE_FULL'
  | 'WAIT_TOO_LONG'
  | 'LIMIT_MISMATCH'
  | 'FOREIGN_FORMAT'
  | 'DEADLOCK';

/** Why a hold was lost. */
export type RevocationReason = 'session-lost' | 'heartbeat-timeout' | 'entry-removed' | 'client-closed';

const RETRYABLE: ReadonlySet<QueueLockErrorCode> = new Set([
  'TIMEOUT',
  'UNAVAILABLE',
  'SESSION_LOST',
  'ENTRY_LOST',
  'NOT_ENOUGH_TIME',
  'QUEUE_FULL',
  'WAIT_TOO_LONG',
  'DEADLOCK',
]);

/** Details of a {@link QueueLockError}. */
export interface QueueLockErrorOptions {
  /** The underlying error, if any. */
  readonly cause?: unknown;
  /** Why a hold was lost. Set for `OWNERSHIP_LOST`. */
  readonly reason?: RevocationReason;
  /** The record of the eviction that removed the entry, if it is known. */
  readonly eviction?: Eviction;
  /** Whether the store itself sent this error. Default: whether it sent `cause`. */
  readonly responded?: boolean;
}

/** Maximum message length in UTF-16 code units. A message with all names of a large multi-lock still fits. */
const MAX_MESSAGE = 8_192;

/**
 * The only error class of queuelock. Match on `code`, never on the message. A message is one line of printable text, whatever it quotes. An aborted
 * call does not reject with this class but with the signal's reason.
 */
export class QueueLockError extends Error {
  override readonly name: string = 'QueueLockError';
  readonly code: QueueLockErrorCode;
  /**
   * Set for `OWNERSHIP_LOST`. The holder is notified of a loss before its cause is known. So the reason `entry-removed` may later be corrected to
   * `session-lost`, with another message and cause. It is final when the claim has ended or `run` rejects.
   */
  reason: RevocationReason | undefined;
  /**
   * The record of the eviction that caused an `OWNERSHIP_LOST` or `ENTRY_LOST`, if there is one. The client reads the record after it has notified
   * the holder. It is available when the claim has ended or `run` rejects.
   */
  eviction: Eviction | undefined;
  /**
   * Whether the store itself sent this error or its `cause`. If so, the store runs and its address is right, and the message names the limit or the
   * setting. False when there was no response, or when this is not known.
   */
  readonly responded: boolean;

  constructor(code: QueueLockErrorCode, message: string, options: QueueLockErrorOptions = {}) {
    super(
      `[${code}] ${toPrintable(message, MAX_MESSAGE)}`,
      'cause' in options ? { cause: options.cause } : {},
    );
    this.code = code;
    this.reason = options.reason;
    this.eviction = options.eviction;
    this.responded = options.responded ?? hasResponded(options.cause);
  }

  /**
   * Whether the same call may succeed on a retry, and no work has been done under the lock yet. False for `OWNERSHIP_LOST`: the work has begun, and
   * only its author knows whether it may be repeated.
   */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }

  /** Returns the error's properties, with its message and cause, which `JSON.stringify` omits from errors by default. */
  toJSON(): object {
    const { name, code, message, reason, eviction, cause } = this;
    return {
      name,
      code,
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(eviction === undefined ? {} : { eviction }),
      ...(cause instanceof Error ? { cause: inJson(cause) } : {}),
    };
  }
}

/**
 * Checks whether a value is a `QueueLockError`, also across copies of the package.
 * @param code the code that the error must also have
 */
export function isQueueLockError(value: unknown, code?: QueueLockErrorCode): value is QueueLockError {
  if (!(value instanceof Error) || value.name !== 'QueueLockError' || !('code' in value)) return false;
  return code === undefined || value.code === code;
}

/** Returns whether an error is a failure that the store itself sent, also for errors of another copy of the package. */
export function hasResponded(error: unknown): boolean {
  return isQueueLockError(error) && error.responded;
}

/** Returns the message of an error without its leading code, for use inside another message. */
export function detailOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^\[[A-Z_]+\] /, '');
}

/** Formats an eviction for a message: the client that removed the entry, and its reason. */
export function describeEviction({ by, reason }: Pick<Eviction, 'by' | 'reason'>): string {
  return `${toPrintable(by)}: ${toPrintable(reason)}`;
}

/** Creates an `INVALID_ARGUMENT` that names the argument, the value and the rule. */
export function invalidArgument(argument: string, value: unknown, rule: string): QueueLockError {
  return new QueueLockError('INVALID_ARGUMENT', `${argument} ${rule}; got ${show(value)}`);
}

function show(value: unknown): string {
  if (typeof value === 'string') {
    return quote(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  }
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
