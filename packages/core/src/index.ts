// The users' door.
export type {
  ClaimOutcome,
  ClaimState,
  CloseOptions,
  LockClient,
  MultiClaimState,
  MultiLock,
  MultiOptions,
  MultiRunOptions,
  SessionState,
} from './api.ts';
export type {
  HandoverAnswer,
  HandoverRequest,
  Hold,
  MultiOwnership,
  Ownership,
  SharedOwnership,
} from './hold-api.ts';
export type { Eviction, QueueEntry, QueueState, RegisterState, SharedRegister } from './queue-api.ts';
export type { QueueChange, QueueHistory, QueuesState } from './store-api.ts';
export type { Finding, ListedQueue } from './store-facts.ts';
export type {
  AcquireOptions,
  ClaimOptions,
  HandoverWish,
  LockClientOptions,
  RunOptions,
  Together,
  WorkOptions,
} from './options.ts';
export type { Clock } from './clock.ts';
export { QueueLockError, isQueueLockError } from './errors.ts';
export type { QueueLockErrorCode, QueueLockErrorOptions, RevocationReason } from './errors.ts';
export type { Backend, BackendInfo } from './spi.ts';
export { createLockClient } from './client.ts';
export { anySignal } from './checked-signal.ts';
export { closeOnSignals, type CloseOnSignalsOptions } from './close-on-signals.ts';
export { firstHeld } from './first-held.ts';
export { admittedOf } from './admitted.ts';
export type { Line, LineState, Place } from './line-api.ts';
export {
  CHANNELS,
  type AcquireMessage,
  type HandoverMessage,
  type HoldMessage,
  type LockMessage,
  type LossMessage,
} from './diagnostics-api.ts';
export { placeOf, type PlaceOptions } from './place.ts';
export { positionsOf } from './positions.ts';
export { expectedWait, type ExpectedWait, type HoldTimes, type WaitBasis } from './expected-wait.ts';
