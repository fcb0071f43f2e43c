// The users' door.
export type {
  ClaimOutcome,
  ClaimState,
  LockClient,
  Ownership,
  QueueEntry,
  QueueState,
  SessionState,
} from './api.ts';
export type { AcquireOptions, LockClientOptions } from './options.ts';
export type { Clock } from './clock.ts';
export { QueueLockError, isQueueLockError } from './errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './errors.ts';
export type { Backend, BackendInfo } from './spi.ts';
export { createLockClient } from './client.ts';
