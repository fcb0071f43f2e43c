import type { QueueLockErrorCode } from '@queuelock/core';
import type { Removal, WireError } from '../wire.ts';

/** An error that the bridge sent, or the reason why no response arrived. Match on `code`. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError';
  /**
   * Error code of the core. `UNAVAILABLE` when the bridge could not be reached or its response was not valid.
   */
  readonly code: QueueLockErrorCode;
  /** Whether the call that failed may succeed when it is repeated. */
  readonly retryable: boolean;
  /**
   * The removal of the entry, if another client removed it. It has the actor and the reason if that client
   * gave them.
   */
  readonly eviction: Removal | undefined;
  /** Milliseconds to wait before a repetition of the call, when a limit of the bridge was reached. */
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

/** Returns the error for a response that did not arrive or was not valid. */
export function unavailable(why: string, cause?: unknown): BridgeError {
  const detail = cause instanceof Error ? `: ${cause.message}` : '';
  return new BridgeError(
    { code: 'UNAVAILABLE', message: `[UNAVAILABLE] ${why}${detail}`, retryable: true },
    cause,
  );
}

/** Converts any error to a `BridgeError`. */
export function bridgeError(error: unknown): BridgeError {
  return error instanceof BridgeError ? error : unavailable('the bridge cannot be reached', error);
}
