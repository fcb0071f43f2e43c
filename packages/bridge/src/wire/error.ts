import type { QueueLockErrorCode } from '@queuelock/core';
import * as v from 'valibot';

/** An error on the wire: the core's code and message, and whether the same call may succeed when it is repeated. */
export interface WireError {
  readonly code: QueueLockErrorCode;
  /** Error message, which begins with the code in brackets and contains no secrets. */
  readonly message: string;
  readonly retryable: boolean;
  /** Why the lock was lost, as the core reports it. Present if the code of the error is `OWNERSHIP_LOST`. */
  readonly reason?: string;
  /**
   * The removal of the entry, if another client removed it and stated its name and reason. It may be present
   * with the codes `OWNERSHIP_LOST` and `ENTRY_LOST`.
   */
  readonly eviction?: Removal;
}

/** The actor that removed an entry, and the actor's reason. */
export interface Removal {
  readonly kind: 'evicted' | 'stolen' | 'overtaken';
  readonly by: string;
  readonly reason: string;
}

/** Schema of `Removal`. */
export const removalSchema: v.GenericSchema<Removal> = v.object({
  kind: v.picklist(['evicted', 'stolen', 'overtaken']),
  by: v.string(),
  reason: v.string(),
});

const codes = [
  'INVALID_ARGUMENT',
  'TIMEOUT',
  'WORK_TIMEOUT',
  'REENTRANT',
  'CLOSED',
  'UNAVAILABLE',
  'ACCESS_DENIED',
  'SESSION_LOST',
  'ENTRY_LOST',
  'OWNERSHIP_LOST',
  'NOT_ENOUGH_TIME',
  'QUEUE_FULL',
  'WAIT_TOO_LONG',
  'LIMIT_MISMATCH',
  'FOREIGN_FORMAT',
  'DEADLOCK',
] as const satisfies readonly QueueLockErrorCode[];

/** Schema of `WireError`. */
export const errorSchema: v.GenericSchema<WireError> = v.object({
  code: v.picklist(codes),
  message: v.string(),
  retryable: v.boolean(),
  reason: v.exactOptional(v.string()),
  eviction: v.exactOptional(removalSchema),
});

/** Body of every response that is not a success. */
export interface Refusal {
  readonly error: WireError;
}

/** Schema of `Refusal`. */
export const refusalSchema: v.GenericSchema<Refusal> = v.object({ error: errorSchema });
