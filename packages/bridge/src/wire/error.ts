import type { QueueLockErrorCode } from '@queuelock/core';
import * as v from 'valibot';

/** An error as it is sent: the core's code and message, and whether the same call may succeed when it is made again. */
export interface WireError {
  readonly code: QueueLockErrorCode;
  /** Begins with the code in brackets; without secrets. */
  readonly message: string;
  readonly retryable: boolean;
  /** With `OWNERSHIP_LOST`: why, as the core says it. */
  readonly reason?: string;
  /** With `OWNERSHIP_LOST` and `ENTRY_LOST`: who removed the entry and why, if somebody said so. */
  readonly eviction?: Removal;
}

/** Who removed an entry, and why. */
export interface Removal {
  readonly kind: 'evicted' | 'stolen' | 'overtaken';
  readonly by: string;
  readonly reason: string;
}

/** Checks a removal. */
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

/** Checks an error. */
export const errorSchema: v.GenericSchema<WireError> = v.object({
  code: v.picklist(codes),
  message: v.string(),
  retryable: v.boolean(),
  reason: v.exactOptional(v.string()),
  eviction: v.exactOptional(removalSchema),
});

/** Body of every answer that is not a success. */
export interface Refusal {
  readonly error: WireError;
}

/** Checks a refusal. */
export const refusalSchema: v.GenericSchema<Refusal> = v.object({ error: errorSchema });
