import { QueueLockError, isQueueLockError, type QueueLockErrorCode } from '@queuelock/core/backend';
import * as v from 'valibot';
import { given } from './snapshots/given.ts';
import { removalSchema, type Removal, type WireError } from './wire.ts';

/** An error together with the HTTP status that says the same. */
export class Refused extends QueueLockError {
  readonly status: number;

  constructor(status: number, code: QueueLockErrorCode, message: string) {
    super(code, message);
    this.status = status;
  }
}

/** A limit is reached: 429 for that of one client, 503 for that of the bridge. */
export class Overloaded extends Refused {
  /** When the same request may succeed, in seconds from now; sent as `Retry-After`. */
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

/** The status that an error is answered with. */
export function statusOf(error: unknown): number {
  if (error instanceof Refused) return error.status;
  return (isQueueLockError(error) && STATUS[error.code]) || 500;
}

/** An error as it is sent. What is none of ours may tell too much about the inside, and is not told. */
export function toWireError(error: unknown): WireError {
  if (!isQueueLockError(error)) {
    return { code: 'UNAVAILABLE', message: '[UNAVAILABLE] the bridge failed', retryable: true };
  }
  const { code, message, retryable, reason, eviction } = error;
  return { code, message, retryable, ...given('reason', reason), ...given('eviction', removalIn(eviction)) };
}

/** Left out where it does not look like one: strangers may have written it. */
function removalIn(eviction: QueueLockError['eviction']): Removal | undefined {
  if (!eviction || !v.is(removalSchema, eviction)) return undefined;
  const { kind, by, reason } = eviction;
  return { kind, by, reason };
}
