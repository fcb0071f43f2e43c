import { inJson } from '../base/jsonable.ts';
import { quote, toPrintable } from '../base/printable.ts';
import type { Eviction } from './queue-api.ts';

/**
 * What went wrong, as far as a caller would act differently on it.
 *
 * - `INVALID_ARGUMENT`: the call can never succeed as written; the message names argument, value and rule.
 * - `TIMEOUT`: the wait ended before the turn came, since others hold the lock or stand ahead; the entry has been withdrawn. Never an outage.
 * - `WORK_TIMEOUT`: the work under the lock took longer than it may, was told to stop, and ended with an error. The work may have had effects.
 * - `REENTRANT`: the calling async context holds this name already, and more would not fit into its limit; waiting would never end.
 * - `CLOSED`: the client was closed, or is closing. With a `cause`: the work had begun, and threw when it was told to stop, so it may have had effects.
 * - `UNAVAILABLE`: the server could not be reached, or its answer was lost, also until the end of a `timeoutMs`; the outcome of the call is unknown.
 * - `ACCESS_DENIED`: the server refused the credentials or the permission.
 * - `SESSION_LOST`: the session is gone, and with it every entry of it. Definite.
 * - `ENTRY_LOST`: this entry is not in the queue and will not be: somebody else removed it. Definite.
 * - `OWNERSHIP_LOST`: the lock was held and is not held any more; `reason` says why. The work may have had effects.
 * - `NOT_ENOUGH_TIME`: less time is proven for the hold than was asked for; nothing was begun.
 * - `QUEUE_FULL`, `WAIT_TOO_LONG`: the line is longer than the caller wants to stand in; the entry has been withdrawn.
 * - `LIMIT_MISMATCH`: somebody ahead uses the name with another limit, so that both together would let in too many.
 * - `FOREIGN_FORMAT`: others stand in this queue in a form that does not exclude with ours; the message names the remedy.
 * - `DEADLOCK`: the caller gave way so that a circle of waiters ends; release what is held, and try again.
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

/** Why an ownership was revoked. */
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
  /** The error underneath, if there was one. */
  readonly cause?: unknown;
  /** With `OWNERSHIP_LOST`: why. */
  readonly reason?: RevocationReason;
  /** Who removed the entry and why, if that is known. */
  readonly eviction?: Eviction;
}

/** Of a message: the names of the largest multi-lock that a person would write fit in. */
const MAX_MESSAGE = 8_192;

/**
 * The one error class of queuelock. Match on `code`, never on the message. A message is one line of printable text, whatever it quotes.
 * An aborted call does not reject with this class but with the signal's own reason.
 */
export class QueueLockError extends Error {
  override readonly name: string = 'QueueLockError';
  readonly code: QueueLockErrorCode;
  /**
   * Set with `OWNERSHIP_LOST`. An `entry-removed` may turn out to be `session-lost`, with another message and cause: a holder learns of its
   * loss first. That is certain when the claim has ended or `run` rejects.
   */
  reason: RevocationReason | undefined;
  /**
   * With `OWNERSHIP_LOST` and `ENTRY_LOST`: who removed the entry and why, if somebody said so. A holder learns of its loss first: it is
   * read afterwards, and is there when the claim has ended or `run` rejects.
   */
  eviction: Eviction | undefined;

  constructor(code: QueueLockErrorCode, message: string, options: QueueLockErrorOptions = {}) {
    super(
      `[${code}] ${toPrintable(message, MAX_MESSAGE)}`,
      'cause' in options ? { cause: options.cause } : {},
    );
    this.code = code;
    this.reason = options.reason;
    this.eviction = options.eviction;
  }

  /**
   * Whether the same call may succeed when it is made again, and nothing has been done under the lock so far. So not for `OWNERSHIP_LOST`:
   * what the work did before the loss is done, and only its author knows whether it may be done twice.
   */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }

  /** For `JSON.stringify`: with the message and the cause, which it shows of no error by itself. */
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

/** Tells errors of queuelock from others, also across copies of the package. With `code`: only that one. */
export function isQueueLockError(value: unknown, code?: QueueLockErrorCode): value is QueueLockError {
  if (!(value instanceof Error) || value.name !== 'QueueLockError' || !('code' in value)) return false;
  return code === undefined || value.code === code;
}

/** An error's message as part of another one: without the code in front, which only the outermost carries. */
export function detailOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^\[[A-Z_]+\] /, '');
}

/** Who removed an entry and why, for messages. */
export function describeEviction({ by, reason }: Pick<Eviction, 'by' | 'reason'>): string {
  return `${toPrintable(by)}: ${toPrintable(reason)}`;
}

/** An `INVALID_ARGUMENT` that names the argument, the value and the rule. */
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
