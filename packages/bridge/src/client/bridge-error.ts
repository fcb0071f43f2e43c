import type { QueueLockErrorCode } from '@queuelock/core';
import type { Removal, WireError } from '../wire.ts';

/** An error that the bridge answered, or that kept it from answering. Match on `code`. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError';
  /** As the core uses it; `UNAVAILABLE` when the bridge could not be reached or its answer was not understood. */
  readonly code: QueueLockErrorCode;
  /** Whether the same call may succeed when it is made again. */
  readonly retryable: boolean;
  /** Who removed the place and why, if somebody did and said so. */
  readonly eviction: Removal | undefined;
  /** How long the bridge asks to wait before the same call, in milliseconds: a limit is reached. */
  readonly retryAfterMs: number | undefined;

  constructor(error: WireError & { readonly retryAfterMs?: number | undefined }, cause?: unknown) {
    const { code, message, retryable, eviction, retryAfterMs } = error;
    super(message, cause === undefined ? {} : { cause });
    this.retryAfterMs = retryAfterMs;
    this.code = code;
    this.retryable = retryable;
    this.eviction = eviction;
  }
}

/** What kept the bridge from answering. */
export function unavailable(why: string, cause?: unknown): BridgeError {
  const detail = cause instanceof Error ? `: ${cause.message}` : '';
  return new BridgeError(
    { code: 'UNAVAILABLE', message: `[UNAVAILABLE] ${why}${detail}`, retryable: true },
    cause,
  );
}

/** Any error as one of a bridge. */
export function bridgeError(error: unknown): BridgeError {
  return error instanceof BridgeError ? error : unavailable('the bridge cannot be reached', error);
}
