import { QueueLockError, isQueueLockError, type QueueLockErrorCode } from '@queuelock/core/backend';
import * as v from 'valibot';
import { ifDefined } from './snapshots/if-defined.ts';
import { removalSchema, type Removal, type WireError } from './wire.ts';

/** An error with the HTTP status of the response to the refused request. */
export class Refused extends QueueLockError {
  readonly status: number;

  constructor(status: number, code: QueueLockErrorCode, message: string) {
    super(code, message);
    this.status = status;
  }
}

/** The error for a limit that was reached: 429 for the limit of a client, 503 for the limit of the bridge. */
export class Overloaded extends Refused {
  /** Seconds after which the same request may succeed; sent as `Retry-After`. */
  readonly retryAfterS: number;

  constructor(status: 429 | 503, message: string, retryAfterS: number) {
    super(status, 'UNAVAILABLE', message);
    this.retryAfterS = retryAfterS;
  }
}

const STATUS: Readonly<Partial<Record<QueueLockErrorCode, number>>> = {
  INVALID_ARGUMENT: 400,
  ACCESS_DENIED: 403,
  TIMEOUT: 408,
  UNAVAILABLE: 503,
  CLOSED: 503,
  SESSION_LOST: 503,
  FOREIGN_FORMAT: 409,
};

/** Returns the HTTP status for an error. */
export function statusOf(error: unknown): number {
  if (error instanceof Refused) return error.status;
  return (isQueueLockError(error) && STATUS[error.code]) || 500;
}

/** Converts an error to its wire form. The text of an unknown error may reveal internals, so it is not sent. */
export function toWireError(error: unknown): WireError {
  if (!isQueueLockError(error)) {
    return { code: 'UNAVAILABLE', message: '[UNAVAILABLE] the bridge failed', retryable: true };
  }
  const { code, message, retryable, reason, eviction } = error;
  return {
    code,
    message,
    retryable,
    ...ifDefined('reason', reason),
    ...ifDefined('eviction', removalIn(eviction)),
  };
}

/**
 * Returns who removed an entry and why, or `undefined` if the record is malformed. Another program may have
 * written it.
 */
function removalIn(eviction: QueueLockError['eviction']): Removal | undefined {
  if (!eviction || !v.is(removalSchema, eviction)) return undefined;
  const { kind, by, reason } = eviction;
  return { kind, by, reason };
}
